"""The tables of a journal's database: rows are appended, and never changed or removed."""

_TABLES = """
create table builds (
    name text primary key, key text not null unique, request text not null, time real not null
) strict;
create table events (
    build text not null references builds, seq integer not null, time real not null,
    kind text not null, body text not null, "check" integer not null, primary key (build, seq)
) strict, without rowid;
create table records (
    id integer primary key, build text not null, seq integer not null, time real not null,
    kind text not null, body text not null
) strict;
create index records_of_builds on records (build, id);
"""
_APPEND_ONLY = "".join(
    f"create trigger {table}_{verb} before {verb} on {table} begin "
    "select raise(abort, 'the journal is only appended to'); end;\n"
    for table in ("builds", "events", "records")
    for verb in ("update", "delete")
)
SCHEMA = _TABLES + _APPEND_ONLY
