"""The domain of a material that is solved as one.  Each game has its own kind."""

from functools import cache

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.game import CHESS, XIANGQI
from kingpair.workers.index.share import Share
from kingpair.workers.sets.block_domain import BlockDomain
from kingpair.workers.sets.domain import Domain


def make_domain(material: Material, share: Share | None = None) -> Domain:
    """The domain of a material in the game that it belongs to, or a share of it."""
    return _DOMAIN[material.game.name](material, share)


@cache
def domain_of(material: Material) -> Domain:
    return make_domain(material)


def _block_domain(material: Material, share: Share | None) -> Domain:
    return BlockDomain(material.stronger, material.weaker, share)


_DOMAIN = {CHESS.name: Domain, XIANGQI.name: _block_domain}
