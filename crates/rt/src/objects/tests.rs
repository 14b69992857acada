//! Objects that come, go and lie over each other.

use super::*;

/// The same table as a list.
#[derive(Default)]
struct Naive(Vec<Object>);

impl Naive {
    fn remove_overlapping(&mut self, start: u64, end: u64) {
        self.0
            .retain(|object| object.end() <= start || object.start >= end);
    }

    fn insert(&mut self, object: Object) {
        self.remove_overlapping(object.start, object.end());
        self.0.push(object);
    }

    fn end(&mut self, start: u64) {
        self.end_within(start, start + 1);
    }

    fn end_within(&mut self, start: u64, end: u64) {
        for object in &mut self.0 {
            if (start..end).contains(&object.start) {
                object.live = false;
                object.size_label = CONCRETE;
            }
        }
    }

    fn find(&self, address: u64) -> Option<Object> {
        let inside = |object: &&Object| (object.start..object.end()).contains(&address);
        self.0.iter().find(inside).copied()
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// An address in one of two ranges, whose nodes are remembered in the same places.
fn any_address(random: &mut Random) -> u64 {
    1 + random.below(1000) + random.below(2) * 4 * RECENT as u64
}

fn any_object(random: &mut Random) -> Object {
    let mut object = Object::new(any_address(random), random.below(40), ObjectKind::Heap);
    object.size_label = random.below(3) as Label;
    object
}

#[test]
fn it_is_what_a_list_would_be() {
    let mut objects = Objects::create().unwrap();
    let mut naive = Naive::default();
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..20_000 {
        match random.below(10) {
            0..5 => {
                let object = any_object(&mut random);
                objects.insert(object);
                naive.insert(object);
            }
            5..8 if !naive.0.is_empty() => {
                let which = random.below(naive.0.len() as u64) as usize;
                let start = naive.0[which].start;
                assert_eq!(objects.end(start).is_some(), naive.0[which].live);
                naive.end(start);
            }
            8 => {
                let start = any_address(&mut random);
                let end = start + random.below(100);
                objects.remove_overlapping(start, end);
                naive.remove_overlapping(start, end);
            }
            _ => {
                let start = any_address(&mut random);
                let end = start + random.below(20);
                objects.end_within(start, end);
                naive.end_within(start, end);
            }
        }
        let address = any_address(&mut random);
        assert_eq!(objects.find(address), naive.find(address), "{address}");
    }
    for address in 0..8 * RECENT as u64 {
        assert_eq!(objects.find(address), naive.find(address), "{address}");
    }
    objects.destroy();
}

fn depth(objects: &Objects, link: Link) -> u32 {
    if link == NONE {
        return 0;
    }
    let node = objects.node(link);
    1 + depth(objects, node.left).max(depth(objects, node.right))
}

#[test]
fn the_tree_stays_shallow() {
    let mut objects = Objects::create().unwrap();
    for index in 0..100_000u64 {
        objects.insert(Object::new(0x1000 + index * 16, 16, ObjectKind::Heap));
    }
    let depth = depth(&objects, objects.root);
    assert!(depth < 60, "{depth}");
    objects.remove_overlapping(0, u64::MAX);
    assert_eq!(objects.root, NONE);
    objects.destroy();
}

#[test]
fn what_is_full_or_absent_forgets() {
    let mut objects = Objects::none();
    objects.insert(Object::new(0x1000, 16, ObjectKind::Stack));
    assert_eq!(objects.find(0x1000), None);
    assert_eq!(objects.end(0x1000), None);
}

#[test]
fn all_that_starts_in_released_memory_ends() {
    let mut objects = Objects::create().unwrap();
    for start in [0x1000, 0x1010, 0x1020, 0x1030] {
        objects.insert(Object::new(start, 16, ObjectKind::Stack));
    }
    assert!(!objects.end_within(0x1010, 0x1030));
    let live = |address| objects.find_live(address).is_some();
    let all = [0x1000, 0x1010, 0x1020, 0x1030].map(live);
    assert_eq!(all, [true, false, false, true]);
    objects.destroy();
}

/// What comes and goes at one place of the stack takes no new nodes.
#[test]
fn one_takes_the_place_of_another() {
    let mut objects = Objects::create().unwrap();
    for round in 0..100 {
        for (start, size) in [(0x1000, 24), (0x1018, 8), (0x1004, 8), (0x0ff0, 64)] {
            objects.insert(Object::new(start, size, ObjectKind::Stack));
            assert_eq!(objects.find(start).unwrap().size, size, "{round}");
        }
    }
    assert!(objects.used <= 3, "{}", objects.used);
    objects.destroy();
}
