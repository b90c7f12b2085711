"""What the builds of the tasks of MMed-Bench-IR are looked at with."""

NAME = "mmed-bench-ir-invented"


def exported(command, cache, folder):
    """The bytes of the benchmark as BEIR has it, by file."""
    assert command("export", "--benchmark", NAME, "--format", "beir", "-o", folder, cache=cache)[0] == 0
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
