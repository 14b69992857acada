//! Running a capsule on invented inputs without harm.
