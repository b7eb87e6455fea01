"""Where a file lies."""

from __future__ import annotations

from ampler.study.store.filesystem import filesystem_type, on_network


def test_the_type_of_a_file_system_is_that_of_the_nearest_mount(tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
        "42 27 0:39 / /home rw shared:1 - nfs4 server:/home rw,vers=4.2\n"
        "43 42 0:40 / /home/me/with\\040blank rw - tmpfs tmpfs rw\n"
        "44 27 0:41 / /homes rw - fuse.sshfs me@there rw\n"
        "45 27 0:41 / /homes rw - lustre over rw\n"
    )
    for path, kind in [
        ("/study.db", "ext4"),
        ("/home/me/study.db", "nfs4"),
        ("/home/me/with blank/study.db", "tmpfs"),
        ("/homestead/study.db", "ext4"),
        ("/homes/study.db", "lustre"),
    ]:
        assert filesystem_type(path, mounts=mounts) == kind
    assert filesystem_type("/study.db", mounts=tmp_path / "none") == ""
    assert not on_network(tmp_path)
