//! Sums of targets by bin, of several features at once.

/// Features whose bins are filled side by side: rows that fall into one bin one after another wait for each other.
pub const ABREAST: usize = 4;
/// With fewer rows than this it is worth while to remember which bins they fall into.
const SPARSE: usize = 256;

/// Sum and count of every bin of one feature, and a bit for every bin that may hold something; empty between two uses.
#[derive(Clone)]
pub struct Histogram {
    cells: [(f64, u32); 256],
    held: [u64; 4],
}

impl Histogram {
    pub fn new() -> Self {
        Histogram { cells: [(0.0, 0); 256], held: [0; 4] }
    }

    #[inline]
    fn add(&mut self, bin: u8, target: f64) {
        let cell = &mut self.cells[bin as usize];
        cell.0 += target;
        cell.1 += 1;
    }

    /// Takes out what the bins hold, in their order, as long as `visit(bin, sum, count)` wants more; the rest is forgotten.
    pub fn drain(&mut self, mut visit: impl FnMut(usize, f64, u32) -> bool) {
        let mut wanted = true;
        for (word, held) in self.held.iter_mut().enumerate() {
            while *held != 0 {
                let bin = 64 * word + held.trailing_zeros() as usize;
                *held &= *held - 1;
                let (sum, count) = std::mem::take(&mut self.cells[bin]);
                wanted = wanted && (count == 0 || visit(bin, sum, count));
            }
        }
    }
}

/// Adds the targets of some rows to the histogram of every column.
pub fn fill<const N: usize>(
    histograms: &mut [Histogram; N],
    columns: [&[u8]; N],
    rows: &[u32],
    targets: &[f32],
) {
    let sparse = rows.len() < SPARSE;
    for (&row, &target) in rows.iter().zip(targets) {
        let target = f64::from(target);
        for (histogram, column) in histograms.iter_mut().zip(columns) {
            let bin = column[row as usize];
            histogram.add(bin, target);
            if sparse {
                histogram.held[bin as usize / 64] |= 1 << (bin % 64);
            }
        }
    }
    if !sparse {
        histograms.iter_mut().for_each(|histogram| histogram.held = [u64::MAX; 4]);
    }
}
