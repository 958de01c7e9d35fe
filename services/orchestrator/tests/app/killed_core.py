"""Run as a program: begin a reply, print the chat's and the reply's id once its text is kept, and die by SIGKILL."""

import asyncio
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from scripted_model import ScriptedModel, text
from world import until, world

from contracts import api


async def scene(folder: Path) -> None:
    """See the module."""
    async with world(folder) as core, ScriptedModel([text("partial text")]).serving() as model:
        model.hold = asyncio.Event()
        chat = await core.chat(model.url)
        exchange = await core.chats.send(chat.chat_id, api.NewMessage(text="go"))
        reply_id = exchange.replies[0].reply_id
        await until(lambda: core.reply(chat.chat_id, reply_id), lambda reply: bool(reply.parts))
        await core.events.flush()
        print(chat.chat_id, reply_id, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(scene(Path(sys.argv[1])))
