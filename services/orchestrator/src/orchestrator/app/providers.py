"""The endpoints that models are asked through: the embedded one, and those that a person added."""

import asyncio

from contracts import errors
from contracts.api import Model, Models, NewProvider, Provider, ProviderProblem
from contracts.errors import Refusal
from orchestrator.adapters import store
from orchestrator.adapters.database import Database
from orchestrator.adapters.openai_endpoint import OpenAIEndpoint
from orchestrator.domain.errors import Conflict, ModelError, NotFound
from orchestrator.domain.ids import new_id
from orchestrator.domain.ports import ModelEndpoint

EMBEDDED_ID = "embedded"
# Small models seldom find an end; four panes share this one, and each may say so much before it has to be asked on.
EMBEDDED_MAX_TOKENS = 400


class Providers:
    """Known endpoints; each has one client, made when it is first used."""

    def __init__(self, database: Database, embedded_url: str) -> None:
        """`embedded_url` is the API of the model that comes with Switchbox."""
        self._database = database
        self._embedded = Provider(
            provider_id=EMBEDDED_ID, name="Embedded", base_url=embedded_url, tool_calls="constrained", embedded=True
        )
        self._endpoints: dict[str, ModelEndpoint] = {}

    async def all(self) -> tuple[Provider, ...]:
        """The embedded one first, then the others in the order in which they were added."""
        return (self._embedded, *await self._database.run(store.providers))

    async def add(self, new: NewProvider) -> Provider:
        """Add an endpoint."""
        provider = Provider(provider_id=new_id(), **dict(new))
        await self._database.run(store.add_provider, provider)
        return provider

    async def remove(self, provider_id: str) -> None:
        """Remove an endpoint; replies that use it now go on to their end."""
        if provider_id == EMBEDDED_ID:
            raise Conflict("The embedded model cannot be removed.", "It is not used where no pane names it.")
        if not await self._database.run(store.remove_provider, provider_id):
            raise NotFound("provider")
        if (endpoint := self._endpoints.pop(provider_id, None)) is not None:
            await endpoint.close()

    async def endpoint(self, provider_id: str) -> ModelEndpoint:
        """The client of an endpoint.

        Raises:
            ModelError: there is no such provider any more.
        """
        provider = next((known for known in await self.all() if known.provider_id == provider_id), None)
        if provider is None:
            detail = "This pane's provider was removed."
            raise ModelError(Refusal(code=errors.MODEL_UNREACHABLE, detail=detail, hint="Choose another model for the pane."))
        if provider_id not in self._endpoints:
            limit = EMBEDDED_MAX_TOKENS if provider.embedded else None
            self._endpoints[provider_id] = OpenAIEndpoint(provider.base_url, provider.tool_calls, limit)
        return self._endpoints[provider_id]

    async def models(self) -> Models:
        """Ask all endpoints at once what they offer."""
        found = await asyncio.gather(*(self._models_of(provider) for provider in await self.all()))
        return Models(
            models=tuple(model for models in found if not isinstance(models, ProviderProblem) for model in models),
            problems=tuple(problem for problem in found if isinstance(problem, ProviderProblem)),
        )

    async def close(self) -> None:
        """Close all clients."""
        await asyncio.gather(*(endpoint.close() for endpoint in self._endpoints.values()))

    async def _models_of(self, provider: Provider) -> list[Model] | ProviderProblem:
        try:
            endpoint = await self.endpoint(provider.provider_id)
            names = await endpoint.models()
        except ModelError as exc:
            return ProviderProblem(provider_id=provider.provider_id, provider_name=provider.name, detail=exc.refusal.detail)
        return [
            Model(
                provider_id=provider.provider_id,
                provider_name=provider.name,
                model=name,
                label=name,
                tool_calls=provider.tool_calls,
                embedded=provider.embedded,
            )
            for name in names
        ]
