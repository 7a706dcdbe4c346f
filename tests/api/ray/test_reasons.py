"""Facts about the reasons that are told for what ends in Ray."""

from kingpair.api.ray.cluster import advice_on_room, ending

FULL = "ray.exceptions.OutOfDiskError: Local disk is full, the object cannot be created"
LOST = """The actor died unexpectedly before finishing this task.
    class_name: Actor
    pid: 1064
    ip: 127.0.0.1
The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR"""


def test_a_full_object_store_is_named_with_what_to_do() -> None:
    advice = advice_on_room(RuntimeError(FULL))
    assert advice.startswith("the object store of a node is full")
    assert "ray start --object-store-memory" in advice


def test_of_a_lost_process_its_number_and_its_node_are_told() -> None:
    error = RuntimeError(LOST)
    assert advice_on_room(error) == ""
    assert ending(error) == "process 1064 of 127.0.0.1 was killed, ran out of memory or crashed"
