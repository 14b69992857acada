//! Files as memory: what is stored there is in the file, and in every other mapping of it.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;

use super::{MOST_MAPPINGS, Mapping, ROOM};
use crate::events::place_of;
use crate::runtime::Runtime;
use crate::system::{self, Status};

impl Runtime {
    /// A file was mapped: the memory has its labels, and if both change together is remembered.
    pub fn mapped_kept(
        &mut self,
        (start, size): (u64, u64),
        shared: bool,
        (fd, offset): (i32, i64),
    ) {
        let Ok(status) = system::status(fd) else {
            return;
        };
        if start as i64 == -1 || self.inputs.of_descriptor(fd).is_some() || !status.is_regular() {
            return;
        }
        self.mapped_as(&status, (start, size), shared, offset);
    }

    /// Memory of System V was attached: it has no descriptor, only a number.
    pub fn attached_kept(&mut self, id: i32, memory: (u64, u64)) {
        let status = Status {
            device: u64::MAX,
            inode: id as u64,
            ..Status::default()
        };
        self.mapped_as(&status, memory, true, 0);
    }

    fn mapped_as(&mut self, status: &Status, (start, size): (u64, u64), shared: bool, offset: i64) {
        let known = self.kept.find(status);
        let Some(index) = known.or_else(|| shared.then(|| self.keep(status, false))) else {
            return;
        };
        let site = place_of(SiteId::NONE);
        self.came_back(index, offset as u64, (start, size), site);
        let free = self.kept.mappings.iter_mut().find(|row| row.size == 0);
        if let Some(row) = free.filter(|_| shared) {
            *row = Mapping {
                start,
                size,
                file: index,
                offset: offset as u64,
                site,
            };
        }
    }

    /// Labels of memory that is also a file go into its image.
    pub(super) fn look_at_mappings(&mut self, index: usize) {
        for number in 0..MOST_MAPPINGS {
            let row = self.kept.mappings[number % MOST_MAPPINGS];
            let size = row.size.min(ROOM.saturating_sub(row.offset));
            if row.file == index && size != 0 && self.is_symbolic(row.start, size) {
                let image = self.image(index);
                if image != 0 {
                    self.shadow.copy(image + row.offset, row.start, size);
                }
            }
        }
    }

    /// Memory is unmapped (or the process ends: all of it). What was stored symbolic to one
    /// mapping of a file was there for those who looked at another, as concrete data.
    pub fn unmapped_kept(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size);
        for number in 0..MOST_MAPPINGS {
            let row = self.kept.mappings[number % MOST_MAPPINGS];
            if row.size == 0 || row.start >= end || row.start + row.size <= start {
                continue;
            }
            let is_other = |(other, mapping): (usize, &Mapping)| {
                other != number && mapping.size != 0 && mapping.file == row.file
            };
            let is_twice = self.kept.mappings.iter().enumerate().any(is_other);
            if is_twice && self.is_symbolic(row.start, row.size) {
                self.trace.note(NoteKind::ReadBack, row.site, 1);
            }
            self.look_at_mappings(row.file);
            if size != u64::MAX {
                self.kept.mappings[number % MOST_MAPPINGS].size = 0;
            }
        }
    }
}
