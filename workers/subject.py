"""What a table is of: a material for a metric.

    KRBvKR.dtm      its name, with which that of its table and of its workshop begins

It rests on smaller tables of the same metric alone.
"""

from typing import NamedTuple

from workers.material import Material
from workers.metric import Metric


class Subject(NamedTuple):
    material: Material
    metric: Metric

    @staticmethod
    def parse(name: str) -> "Subject":
        material, _, metric = name.partition(".")
        return Subject(Material.parse(material), Metric(metric))

    def smaller(self) -> "frozenset[Subject]":
        """What its captures lead to, bare kings left out."""
        materials = (capture.material for capture in self.material.captures())
        return frozenset(Subject(m, self.metric) for m in materials if m.letters)

    def __str__(self) -> str:
        return f"{self.material}.{self.metric}"
