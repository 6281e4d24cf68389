//! Values of leaves that are given, from targets.

/// Trees of one forest, by the leaf of every place, a cut or a cut and an action, in each.
#[derive(Default)]
pub struct Leaves {
    pub(crate) trees: Vec<(usize, Vec<u8>)>,
    /// Of every tree, the value of its leaves.
    pub(crate) values: Vec<Vec<f32>>,
}

impl Leaves {
    /// Means of the targets at some places, with `shrinkage` further ones that are 0; `out` gets the mean of all trees at
    /// every place.
    pub fn sweep(&mut self, places: &[usize], targets: &[f32], shrinkage: f64, out: &mut [f32]) {
        self.values.clear();
        for (n_leaves, leaves) in &self.trees {
            let mut sums = vec![(0.0f64, shrinkage); *n_leaves];
            for (&place, &target) in places.iter().zip(targets) {
                let cell = &mut sums[leaves[place] as usize];
                cell.0 += f64::from(target);
                cell.1 += 1.0;
            }
            let share = 1.0 / self.trees.len() as f64;
            let mean = |(sum, count): (f64, f64)| (share * sum / count.max(1.0)) as f32;
            self.values.push(sums.into_iter().map(mean).collect());
        }
        out.fill(0.0);
        for ((_, leaves), values) in self.trees.iter().zip(&self.values) {
            // Padded, so that no leaf needs a check.
            let mut table = [0.0f32; 256];
            table[..values.len()].copy_from_slice(values);
            out.iter_mut().zip(leaves).for_each(|(out, &leaf)| *out += table[leaf as usize]);
        }
    }
}
