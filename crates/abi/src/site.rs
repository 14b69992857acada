//! How places in the program are numbered.
//!
//! A site is one branch, switch, check, call or memory access in one translation unit. Its
//! number carries the unit's hash, so that numbers need no relocation, survive archives and
//! partial links, and are found again in the site map that each unit carries in its object
//! file (section [`SITES_SECTION`]).

/// Names a site: `unit << 24 | local`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct SiteId(pub u64);

/// Bits of the number within the unit.
pub const LOCAL_BITS: u32 = 24;
/// Bits of the unit's hash.
pub const UNIT_BITS: u32 = 40;

impl SiteId {
    /// Stands for "no place known".
    pub const NONE: SiteId = SiteId(0);

    /// Site number `local` of the unit with this hash.
    pub const fn new(unit: u64, local: u32) -> SiteId {
        SiteId((unit & ((1 << UNIT_BITS) - 1)) << LOCAL_BITS | local as u64)
    }

    /// The hash of the translation unit.
    pub const fn unit(self) -> u64 {
        self.0 >> LOCAL_BITS
    }

    /// The number within the unit.
    pub const fn local(self) -> u32 {
        (self.0 & ((1 << LOCAL_BITS) - 1)) as u32
    }
}

/// ELF section with the site maps of all units of an object, one blob after the other.
pub const SITES_SECTION: &str = ".nearmiss.sites";
/// ELF section with the control flow of each unit.
pub const FLOW_SECTION: &str = ".nearmiss.flow";
/// ELF section with what the sanitizer twin of each unit is built from.
pub const TWIN_SECTION: &str = ".nearmiss.twin";
/// ELF section with the link command of a program or shared library.
pub const LINK_SECTION: &str = ".nearmiss.link";
/// ELF section with what each unit was compiled from.
pub const RECIPE_SECTION: &str = ".nearmiss.recipe";
