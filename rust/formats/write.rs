//! The writer of `.pomdp` files. What it writes, `read` reads back bit for bit.

use std::collections::HashSet;
use std::fmt::Write;

use crate::domains::tabular::{Model, Tabular};
use crate::error::{Error, Result};
use crate::formats::symbols::{RESERVED, fault};
use crate::simulate::environment::Environment;

/// A matrix with fewer than one entry in this many is written entry by entry.
const SPARSE: usize = 4;

/// The text of a file. The format has no terminal states: they become absorbing and pay nothing. Names that it
/// cannot express are changed as little as possible; names that only count are written as a count.
pub fn write(world: &Tabular, discount: f64) -> Result<String> {
    if world.shows_first() {
        let remedy = "a .pomdp file cannot say what is shown before the first action; save the world without";
        return Err(Error::argument("first_observations", "a matrix", remedy));
    }
    let model = absorbing(world.model()?);
    let (states, width) = (model.n_states, model.n_observations);
    let mut text = String::from("discount: ");
    push_number(&mut text, discount);
    text.push_str("\nvalues: reward\n");
    let state_names = declare(&mut text, "state", &world.state_names);
    let action_names = declare(&mut text, "action", &world.action_names);
    let observation_names = declare(&mut text, "observation", &world.observation_names);
    text.push_str("start: ");
    if model.start.iter().all(|&p| p == 1.0 / states as f64) && states > 1 {
        text.push_str("uniform\n");
    } else {
        push_row(&mut text, &model.start);
    }
    for (action, matrix) in model.transitions.chunks_exact(states * states).enumerate() {
        push_matrix(&mut text, &format!("T: {}", action_names[action]), matrix, &state_names, &state_names);
    }
    for (action, matrix) in model.observations.chunks_exact(states * width).enumerate() {
        push_matrix(
            &mut text,
            &format!("O: {}", action_names[action]),
            matrix,
            &state_names,
            &observation_names,
        );
    }
    push_rewards(&mut text, &model, &action_names, &state_names);
    Ok(text)
}

/// The model without terminal states: one stays where it is, and is paid no more.
fn absorbing(mut model: Model) -> Model {
    let states = model.n_states;
    let paid = model.rewards.values.len() / (model.n_actions * states);
    for pair in 0..model.n_actions * states {
        if model.terminal[pair % states] {
            let row = &mut model.transitions[pair * states..][..states];
            row.fill(0.0);
            row[pair % states] = 1.0;
            model.rewards.values[pair * paid..][..paid].fill(0.0);
        }
    }
    model
}

/// The shortest decimal that reads back as the same number; with a point, which older readers insist on.
fn push_number(text: &mut String, value: f64) {
    let first = text.len();
    let _ = write!(text, "{value:?}");
    if !text[first..].contains('.') {
        let exponent = text[first..].find('e').map_or(text.len(), |at| first + at);
        text.insert_str(exponent, ".0");
    }
}

/// Writes the header line of one kind of symbol and returns how the rest of the file refers to them.
fn declare(text: &mut String, kind: &str, names: &[String]) -> Vec<String> {
    if names.iter().enumerate().all(|(index, name)| *name == format!("{kind} {index}")) {
        let _ = writeln!(text, "{kind}s: {}", names.len());
        return (0..names.len()).map(|index| index.to_string()).collect();
    }
    let mut names: Vec<String> = names.iter().map(|name| expressible(kind, name)).collect();
    if names.iter().collect::<HashSet<_>>().len() < names.len() {
        names = names.iter().enumerate().map(|(index, name)| format!("{name}_{index}")).collect();
    }
    let _ = writeln!(text, "{kind}s: {}", names.join(" "));
    names
}

/// The name itself if the format can express it, else one like it.
fn expressible(kind: &str, name: &str) -> String {
    if fault(name).is_none() {
        return name.into();
    }
    let bad = |character: char| fault(&format!("a{character}")).is_some();
    let name: String = name.chars().map(|character| if bad(character) { '_' } else { character }).collect();
    if RESERVED.contains(&name.as_str()) || fault(&name).is_some() { format!("{kind}_{name}") } else { name }
}

fn push_row(text: &mut String, row: &[f64]) {
    for (column, &value) in row.iter().enumerate() {
        if column > 0 {
            text.push(' ');
        }
        push_number(text, value);
    }
    text.push('\n');
}

fn push_matrix(text: &mut String, head: &str, matrix: &[f64], rows: &[String], columns: &[String]) {
    let width = columns.len();
    let uniform = 1.0 / width as f64;
    let filled = matrix.iter().filter(|&&p| p != 0.0).count();
    if matrix.iter().all(|&p| p == uniform) {
        let _ = writeln!(text, "\n{head} uniform");
    } else if filled < matrix.len() / SPARSE {
        text.push('\n');
        for (row, name) in matrix.chunks_exact(width).zip(rows) {
            for (&p, column) in row.iter().zip(columns).filter(|(p, _)| **p != 0.0) {
                let _ = write!(text, "{head} : {name} : {column} ");
                push_row(text, &[p]);
            }
        }
    } else {
        let _ = writeln!(text, "\n{head}");
        matrix.chunks_exact(width).for_each(|row| push_row(text, row));
    }
}

/// Only what is not zero, and `*` for what rewards do not depend on.
fn push_rewards(text: &mut String, model: &Model, actions: &[String], states: &[String]) {
    let rewards = &model.rewards;
    let nexts = if rewards.by_next_state { states } else { &["*".to_string()] };
    let width = if rewards.by_observation { model.n_observations } else { 1 };
    text.push('\n');
    for (index, row) in rewards.values.chunks_exact(width).enumerate() {
        let (pair, next) = (index / nexts.len(), &nexts[index % nexts.len()]);
        let (action, state) = (&actions[pair / states.len()], &states[pair % states.len()]);
        if row.iter().any(|&value| value != row[0]) {
            let _ = writeln!(text, "R: {action} : {state} : {next}");
            push_row(text, row);
        } else if row[0] != 0.0 {
            let _ = write!(text, "R: {action} : {state} : {next} : * ");
            push_row(text, &row[..1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::read::read;
    use crate::parallel::Ticker;

    #[test]
    fn numbers_have_a_point_and_read_back() {
        for value in [1.0, 0.1, 1e-300, 1.5e-7, 1e22, -123456789.0, f64::MIN_POSITIVE / 3.0] {
            let mut text = String::new();
            push_number(&mut text, value);
            assert!(text.contains('.'), "{text}");
            assert_eq!(text.parse::<f64>().unwrap(), value);
        }
    }

    #[test]
    fn names_stay_apart() {
        let given = ["a b", "a_b", "T", "", "3", "(1,2)"].map(String::from);
        let mut text = String::new();
        let names = declare(&mut text, "state", &given);
        assert!(names.iter().all(|name| fault(name).is_none()), "{names:?}");
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), given.len());
    }

    #[test]
    fn what_is_written_is_read() {
        let world = crate::domains::tiger::Tiger.tabular();
        let file = read(write(&world, 0.95).unwrap().as_bytes(), 1000, &Ticker::default()).unwrap();
        assert_eq!(file.model, world.model().unwrap());
        assert_eq!(file.discount, 0.95);
    }
}
