"""The SQLite database: opened, migrated, and used from one thread of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config


class Database:
    """All access goes through `run`: one thread, one connection, one transaction for each call.

    SQLite has one writer anyway; one thread keeps calls in order and needs no locks.
    """

    def __init__(self, path: Path) -> None:
        """Use the file at `path`; it is made when missing."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")
        self._engine = sa.create_engine(
            f"sqlite:///{path}", poolclass=sa.pool.StaticPool, connect_args={"check_same_thread": False}
        )
        sa.event.listen(self._engine, "connect", _set_up)

    async def open(self) -> None:
        """Bring the schema to the newest migration."""
        await self._submit(self._migrate)

    async def run[T](self, use: Callable[..., T], *args: Any) -> T:
        """Call `use(connection, *args)` in a transaction; it is rolled back when `use` raises."""

        def in_transaction() -> T:
            with self._engine.begin() as connection:
                return use(connection, *args)

        return await self._submit(in_transaction)

    async def close(self) -> None:
        """Wait for what is under way, then close."""
        await self._submit(self._engine.dispose)
        self._thread.shutdown()

    async def _submit[T](self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _migrate(self) -> None:
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self._engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def _set_up(connection: Any, _record: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=5000"):
        connection.execute(f"PRAGMA {pragma}")
