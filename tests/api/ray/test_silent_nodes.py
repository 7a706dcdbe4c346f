"""Facts about silent nodes: when one counts as silent, and when it does no longer."""

from kingpair.api.ray.raylet_watch import RayletWatch, SilentNodes, answers


def told(*answers: bool) -> bool:
    nodes = SilentNodes()
    for answer in answers:
        nodes.take("a", answer)
    return "a" in nodes


def test_one_missed_check_is_nothing_and_two_in_a_row_are_silence() -> None:
    assert not told(True, False)
    assert told(True, False, False)
    assert not told(True, False, True, False)


def test_a_node_that_never_answered_is_silent_at_once() -> None:
    assert told(False)


def test_a_node_that_answers_again_is_not_silent() -> None:
    assert not told(True, False, False, True)


def test_a_node_that_left_is_forgotten() -> None:
    nodes = SilentNodes()
    nodes.take("a", False)
    nodes.keep([])
    assert "a" not in nodes


def test_a_watch_knows_the_silent_ones_of_new_nodes_at_once() -> None:
    watch = RayletWatch(lambda address: address == "here:1")
    assert watch.silent({"a": "here:1", "b": "gone:1"}) == {"b"}
    assert watch.silent({"a": "here:1"}) == set()
    watch.close()


def test_a_port_where_nothing_listens_does_not_answer() -> None:
    assert not answers("127.0.0.1:1")
