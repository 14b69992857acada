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
        let known = self.kept.find(status.identity());
        let index = known.unwrap_or_else(|| self.keep(status, false));
        let site = place_of(SiteId::NONE);
        self.came_back(index, offset as u64, (start, size), site);
        let mapping = Mapping {
            start,
            size,
            file: index,
            offset: offset as u64,
            shared,
        };
        if shared && !self.mirror_mappings(&mapping) {
            self.trace.note(NoteKind::ReadBack, site, 1);
        }
        match self.kept.mappings.iter_mut().find(|row| row.size == 0) {
            Some(row) => *row = mapping,
            None => self.trace.note(NoteKind::ReadBack, site, 1),
        }
    }

    /// A file's part is at other addresses already: labels that are stored at the one are there at
    /// the others. `false`: that is too much.
    fn mirror_mappings(&mut self, new: &Mapping) -> bool {
        let mut all = true;
        for number in 0..MOST_MAPPINGS {
            let old = self.kept.mappings[number % MOST_MAPPINGS];
            if old.file != new.file || !old.shared {
                continue;
            }
            let first = old.offset.max(new.offset);
            let end = (old.offset + old.size).min(new.offset + new.size);
            if first < end {
                let one = old.start + (first - old.offset);
                let other = new.start + (first - new.offset);
                all &= self.shadow.mirror(one, other, end - first);
            }
        }
        all
    }

    /// The program wrote to a file: what it wrote is in the file's mappings too.
    pub(super) fn update_mappings(&mut self, index: usize, (at, size): (u64, u64)) {
        let image = self.image(index);
        for number in 0..MOST_MAPPINGS {
            let row = self.kept.mappings[number % MOST_MAPPINGS];
            let first = at.max(row.offset);
            let end = (at + size).min(row.offset + row.size).min(ROOM);
            if row.size == 0 || row.file != index || first >= end || image == 0 {
                continue;
            }
            if row.shared {
                let place = row.start + (first - row.offset);
                self.shadow.copy(place, image + first, end - first);
            } else if self.is_symbolic(image + first, end - first) {
                // A private mapping may have a copy of its own by now.
                let site = place_of(SiteId::NONE);
                self.trace.note(NoteKind::ReadBack, site, 1);
            }
        }
    }

    /// Labels of memory that is also a file go into its image.
    pub(super) fn look_at_mappings(&mut self, index: usize) {
        for number in 0..MOST_MAPPINGS {
            let row = self.kept.mappings[number % MOST_MAPPINGS];
            let size = row.size.min(ROOM.saturating_sub(row.offset));
            if row.file == index && row.shared && size != 0 && self.is_symbolic(row.start, size) {
                let image = self.image(index);
                if image != 0 {
                    self.shadow.copy(image + row.offset, row.start, size);
                }
            }
        }
    }

    /// Memory is unmapped: what was stored there is in the file.
    pub fn unmapped_kept(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size);
        for number in 0..MOST_MAPPINGS {
            let row = self.kept.mappings[number % MOST_MAPPINGS];
            if row.size == 0 || row.start >= end || row.start + row.size <= start {
                continue;
            }
            if row.shared {
                self.look_at_mappings(row.file);
                self.shadow.end_mirrors(row.start, row.size);
            }
            self.kept.mappings[number % MOST_MAPPINGS].size = 0;
        }
    }
}
