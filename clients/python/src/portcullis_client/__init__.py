"""Client of Portcullis: allowed, denied, or unavailable."""

from ._async import AsyncPortcullis
from ._core import VERSION as __version__
from ._credentials import Credential
from ._errors import DeniedError, PortcullisError, RejectedError, UnavailableError
from ._sync import Portcullis
from ._types import (
    Cache,
    Check,
    ClientCredentials,
    Decision,
    Found,
    Observer,
    Permission,
    Plan,
    Relation,
    RelationCounts,
    Response,
    SearchPage,
    Sql,
)

__all__ = [
    "AsyncPortcullis",
    "Cache",
    "Check",
    "ClientCredentials",
    "Credential",
    "Decision",
    "DeniedError",
    "Found",
    "Observer",
    "Permission",
    "Plan",
    "Portcullis",
    "PortcullisError",
    "RejectedError",
    "Relation",
    "RelationCounts",
    "Response",
    "SearchPage",
    "Sql",
    "UnavailableError",
    "__version__",
]
