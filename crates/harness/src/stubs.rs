//! Functions for function pointers: what they give back is an input.

use nearmiss_results::Role;

use crate::HarnessError;
use crate::layout::{Builder, Scene, Waiting};
use crate::model::{Owner, Place, Root, Stub, Target};
use crate::path::{Path, Step};
use crate::types::{Signature, TypeId};

/// How many calls of a stub have a result of their own; later ones have that of the last.
const STUB_CALLS: u64 = 3;

impl Builder<'_> {
    /// A function for a function pointer; none where stubs lead to themselves.
    pub fn stub(
        &mut self,
        waiting: &Waiting,
        path: &Path,
        of: TypeId,
        signature: &Signature,
    ) -> Result<Option<Target>, HarnessError> {
        if waiting.scene.nesting.contains(&of) {
            return Ok(None);
        }
        let number = self.layout.stubs.len();
        self.layout.stubs.push(Stub {
            path: path.clone(),
            of,
            signature: signature.clone(),
            root: None,
        });
        let result = signature.result;
        let size = self.types.size(result);
        if size == 0 {
            return Ok(Some(Target::Stub(number)));
        }
        let name = path.then(Step::Call);
        let at = self.reserve(size * STUB_CALLS, &name)?;
        let root = self.layout.roots.len();
        self.layout.roots.push(Root {
            name: name.to_string(),
            role: Role::Stub,
            of: result,
            elements: STUB_CALLS,
            at,
            place: Place::Harness,
        });
        self.layout.stubs[number].root = Some(root);
        let mut nesting = waiting.scene.nesting.clone();
        nesting.push(of);
        let scene = Scene::new(Owner::Root(root), nesting, Vec::new());
        for call in 0..STUB_CALLS {
            let place = at + (call * size) as usize;
            self.place(result, &name.then(Step::Index(call)), place, &scene)?;
        }
        Ok(Some(Target::Stub(number)))
    }
}
