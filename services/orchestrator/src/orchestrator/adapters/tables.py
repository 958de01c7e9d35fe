"""The tables of the store. A change here needs a migration in `migrations/versions`."""

import sqlalchemy as sa

metadata = sa.MetaData()

chats = sa.Table(
    "chats",
    metadata,
    sa.Column("chat_id", sa.String(32), primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("workspace", sa.String(32), nullable=False, unique=True),
    sa.Column("network", sa.Boolean, nullable=False),
    sa.Column("policies", sa.JSON, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("updated_at", sa.BigInteger, nullable=False, index=True),
)

panes = sa.Table(
    "panes",
    metadata,
    sa.Column("pane_id", sa.String(32), primary_key=True),
    sa.Column("chat_id", sa.String(32), sa.ForeignKey("chats.chat_id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
)

exchanges = sa.Table(
    "exchanges",
    metadata,
    sa.Column("exchange_id", sa.String(32), primary_key=True),
    sa.Column("chat_id", sa.String(32), sa.ForeignKey("chats.chat_id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
)

# `document` is the JSON of contracts.chats.Reply. While a reply is being written the row holds what it was when it
# began; what came since is in `events`.
replies = sa.Table(
    "replies",
    metadata,
    sa.Column("reply_id", sa.String(32), primary_key=True),
    sa.Column("chat_id", sa.String(32), sa.ForeignKey("chats.chat_id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column(
        "exchange_id", sa.String(32), sa.ForeignKey("exchanges.exchange_id", ondelete="CASCADE"), nullable=False, index=True
    ),
    sa.Column("pane_id", sa.String(32), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("status", sa.String(16), nullable=False, index=True),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("first_event_id", sa.BigInteger, nullable=False),
)

approvals = sa.Table(
    "approvals",
    metadata,
    sa.Column("approval_id", sa.String(32), primary_key=True),
    sa.Column("chat_id", sa.String(32), sa.ForeignKey("chats.chat_id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("state", sa.String(16), nullable=False, index=True),
    sa.Column("document", sa.Text, nullable=False),
)

providers = sa.Table(
    "providers",
    metadata,
    sa.Column("provider_id", sa.String(40), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("base_url", sa.Text, nullable=False),
    sa.Column("tool_calls", sa.String(16), nullable=False),
)

# `event_id` counts up over all chats. Text deltas of one part that follow each other are kept as one row under the
# last one's id.
events = sa.Table(
    "events",
    metadata,
    sa.Column("event_id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("chat_id", sa.String(32), nullable=False),
    sa.Column("reply_id", sa.String(32)),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False, index=True),
    sa.Index("events_of_chat", "chat_id", "event_id"),
)
