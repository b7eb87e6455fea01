"""Studies to start from, with the texts they are made of beside them.

* `init`: a commented study that works as it is, for each kind of algorithm (`ampler init`)
* `demo`: a small study from start to finish (`ampler demo`)
"""
