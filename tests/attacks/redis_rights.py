"""Give commands to Redis as the tool-runner's user. Argument: JSON list of commands, each a list of words.

Prints for each `done`, or the first word of Redis's refusal (`NOPERM` is what the rights say).
"""

import json
import sys
from pathlib import Path

import redis

password = Path("/keys/tool-runner/redis.password").read_text().strip()
connection = redis.Redis("redis", username="tool-runner", password=password)


def give(words: list[str]) -> str:
    """One command."""
    try:
        connection.execute_command(*words)
    except redis.exceptions.NoPermissionError:
        return "NOPERM"
    except redis.RedisError as exc:
        return str(exc).split()[0]
    return "done"


print(json.dumps([give(words) for words in json.loads(sys.argv[1])]))
