"""Facts about the note of a table's latest proof."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

from building import built
from terminal import kingpair

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.commit import commit
from kingpair.workers.game.chess.material import Material
from kingpair.workers.table.format import Table
from kingpair.workers.table.proof_note import read_proof_note

NAME = "KRvK.dtc.arrow"
NOTE = "KRvK.dtc.proof.json"


def test_a_build_notes_its_proof_and_one_without_a_proof_does_not(tmp_path: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    built(tmp_path / "proved", "KRvK")
    note = read_proof_note(Table(tmp_path / "proved" / NAME))
    assert note is not None
    assert note.commit == commit()
    assert before <= datetime.fromisoformat(note.at) <= datetime.now(UTC)
    spec = BuildSpec((Material.parse("KRvK"),), verify=False)
    build(BuildRequest(spec, tmp_path / "unproved"), lambda row: None)
    assert read_proof_note(Table(tmp_path / "unproved" / NAME)) is None


def test_the_command_notes_a_proof_where_it_may(tables: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(tables / NAME, tmp_path))
    assert kingpair("verify", "KRvK", "--tables", tmp_path).exit_code == 0
    assert read_proof_note(Table(path)) is not None


def test_a_note_of_another_table_or_of_nonsense_is_none(tables: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(tables / NAME, tmp_path))
    stated = json.loads((tables / NOTE).read_text())
    foreign: list[object] = [stated | {"digest": "0" * 64}, {"digest": stated["digest"]}, [], None]
    for note in foreign:
        (tmp_path / NOTE).write_text(json.dumps(note))
        assert read_proof_note(Table(path)) is None
    (tmp_path / NOTE).write_text(json.dumps(stated))
    assert read_proof_note(Table(path)) is not None
