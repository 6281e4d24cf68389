use super::sweeps::Leaves;
use super::tree::{Growth, Tree};
use crate::rng::Rng;

const ALL: Growth = Growth { leaves: 256, features: 1.0, rows: 1.0 };

/// The first split of a tree is the best of all splits, by trying every one.
#[test]
fn the_first_split_is_the_best_of_all() {
    let mut rng = Rng::stream(0, 0);
    for _ in 0..50 {
        let columns: Vec<Vec<u8>> = (0..3).map(|_| (0..40).map(|_| rng.below(6) as u8).collect()).collect();
        let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
        let targets: Vec<f32> = (0..40).map(|_| rng.uniform() as f32).collect();
        let rows: Vec<u32> = (0..40).collect();
        let error = |feature: usize, bin: u8| {
            let part = |right: bool| {
                let part: Vec<f64> = (0..40)
                    .filter(|&row| (columns[feature][row] > bin) == right)
                    .map(|row| f64::from(targets[row]))
                    .collect();
                let mean = part.iter().sum::<f64>() / part.len() as f64;
                (part.len(), part.iter().map(|x| (x - mean).powi(2)).sum::<f64>())
            };
            let ((few, left), (many, right)) = (part(false), part(true));
            if few.min(many) < 3 { f64::INFINITY } else { left + right }
        };
        let best = (0..3).flat_map(|f| (0..5).map(move |bin| error(f, bin))).fold(f64::INFINITY, f64::min);
        let growth = Growth { leaves: 2, ..ALL };
        let tree = Tree::grown(&columns, &[6; 3], &rows, &targets, 3, 0, &growth, Rng::stream(1, 0));
        let taken = error(tree.feature[0] as usize, tree.bin[0]);
        assert!((taken - best).abs() < 1e-6, "{taken} {best}");
    }
}

/// A function of bins that trees can write down is recovered, and leaves have their means.
#[test]
fn a_step_function_is_recovered() {
    let column: Vec<u8> = (0..200).map(|row| (row % 5) as u8).collect();
    let (columns, rows) = ([column.as_slice()], (0..200).collect::<Vec<u32>>());
    let targets: Vec<f32> = column.iter().map(|&bin| f32::from(bin) * f32::from(bin)).collect();
    let tree = Tree::grown(&columns, &[5], &rows, &targets, 5, 0, &ALL, Rng::stream(0, 0));
    assert_eq!(tree.n_leaves, 5);
    let mut forest = Leaves { trees: vec![(5, tree.leaves(&columns, 200))], values: Vec::new() };
    let (mut out, places) = (vec![0.0; 200], (0..200).collect::<Vec<usize>>());
    forest.sweep(&places, &targets, 0.0, &mut out);
    assert_eq!(out, targets);
    // As many rows of advantage 0 as a leaf has halve it.
    forest.sweep(&places, &targets, 40.0, &mut out);
    assert!(out.iter().zip(&targets).all(|(half, whole)| 2.0 * half == *whole));
}

/// Constant targets need no split.
#[test]
fn nothing_is_split_without_need() {
    let column: Vec<u8> = (0..100).map(|row| row as u8).collect();
    let (columns, rows) = ([column.as_slice()], (0..100).collect::<Vec<u32>>());
    let tree = Tree::grown(&columns, &[100], &rows, &[0.1; 100], 1, 0, &ALL, Rng::stream(0, 0));
    assert_eq!((tree.n_leaves, tree.leaves(&columns, 100)), (1, vec![0; 100]));
}
