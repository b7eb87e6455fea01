"""Where a file lies."""

from __future__ import annotations

from types import SimpleNamespace

from ampler.study.store.access import on_network


def test_a_file_lies_where_the_nearest_mount_says(tmp_path, monkeypatch):
    table = [
        ("/", "ext4"),
        ("/home", "nfs4"),
        ("/home/me/with blank", "tmpfs"),
        ("/homes", "sshfs"),
        ("/homes", "lustre"),
    ]
    mounts = [SimpleNamespace(mountpoint=point, fstype=kind) for point, kind in table]
    assert not on_network(tmp_path)
    monkeypatch.setattr("psutil.disk_partitions", lambda all: mounts)

    for path, kind in [
        ("/study.db", "ext4"),
        ("/home/me/study.db", "nfs4"),
        ("/home/me/with blank/study.db", "tmpfs"),
        ("/homestead/study.db", "ext4"),
        ("/homes/study.db", "lustre"),
    ]:
        assert on_network(path) == (kind in ("nfs4", "lustre"))
    monkeypatch.setattr("psutil.disk_partitions", lambda all: [])
    assert not on_network("/study.db")
