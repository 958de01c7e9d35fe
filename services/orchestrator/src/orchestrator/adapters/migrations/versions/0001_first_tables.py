"""The first tables: chats, panes, exchanges, replies, approvals, providers, events."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "chats",
        sa.Column("chat_id", sa.String(32), primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("workspace", sa.String(32), nullable=False, unique=True),
        sa.Column("network", sa.Boolean, nullable=False),
        sa.Column("policies", sa.JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False, index=True),
    )
    op.create_table(
        "panes",
        sa.Column("pane_id", sa.String(32), primary_key=True),
        _chat(),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
    )
    op.create_table(
        "exchanges",
        sa.Column("exchange_id", sa.String(32), primary_key=True),
        _chat(),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "replies",
        sa.Column("reply_id", sa.String(32), primary_key=True),
        _chat(),
        sa.Column(
            "exchange_id", sa.String(32), sa.ForeignKey("exchanges.exchange_id", ondelete="CASCADE"), nullable=False, index=True
        ),
        sa.Column("pane_id", sa.String(32), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("status", sa.String(16), nullable=False, index=True),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("first_event_id", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "approvals",
        sa.Column("approval_id", sa.String(32), primary_key=True),
        _chat(),
        sa.Column("state", sa.String(16), nullable=False, index=True),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "providers",
        sa.Column("provider_id", sa.String(40), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("base_url", sa.Text, nullable=False),
        sa.Column("tool_calls", sa.String(16), nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("event_id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
        sa.Column("chat_id", sa.String(32), nullable=False),
        sa.Column("reply_id", sa.String(32)),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False, index=True),
    )
    op.create_index("events_of_chat", "events", ["chat_id", "event_id"])


def downgrade() -> None:
    """Remove the tables."""
    for table in ("events", "providers", "approvals", "replies", "exchanges", "panes", "chats"):
        op.drop_table(table)


def _chat() -> sa.Column[str]:
    return sa.Column("chat_id", sa.String(32), sa.ForeignKey("chats.chat_id", ondelete="CASCADE"), nullable=False, index=True)
