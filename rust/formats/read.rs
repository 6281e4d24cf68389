//! The reader of `.pomdp` files: header, then T, O and R lines, a later one writing over an earlier one.

use crate::domains::tabular::{Model, ROW_TOLERANCE, normalise};
use crate::error::{Error, Result};
use crate::formats::header::{Header, SECTIONS, unknown_section};
use crate::formats::lexer::{Lexer, Token};
use crate::formats::tables::{RewardLine, Sizes, Tables};
use crate::parallel::Ticker;
use crate::reserve::reserve;

/// A POMDP as its file has it. Names are empty where the file only counts.
#[derive(Debug)]
pub struct PomdpFile {
    /// Arrays of the world.
    pub model: Model,
    /// Worth of a reward one step later.
    pub discount: f64,
    /// By action.
    pub action_names: Vec<String>,
    /// By observation.
    pub observation_names: Vec<String>,
    /// By state.
    pub state_names: Vec<String>,
}

/// Reads a whole file. Refuses, before allocating, one whose dense tables have more than `max_entries` entries.
pub fn read(bytes: &[u8], max_entries: usize, ticker: &Ticker) -> Result<PomdpFile> {
    let mut lexer = Lexer::new(bytes)?;
    let header = Header::read(&mut lexer)?;
    let sizes = Sizes {
        actions: header.actions.count,
        states: header.states.count,
        observations: header.observations.count,
    };
    let tables = Tables::new(sizes, max_entries)?;
    let mut body = Body { lexer, header, tables, numbers: vec![] };
    // Before the lines: `reset` goes to the start distribution itself.
    normalise("start", &mut body.header.start, || "all states".into())?;
    loop {
        ticker.check()?;
        match body.lexer.token {
            Token::End => return body.finish(),
            Token::Word("T") => body.read_probabilities(Table::Transitions)?,
            Token::Word("O") => body.read_probabilities(Table::Observations)?,
            Token::Word("R") => body.read_rewards()?,
            Token::Word(word) if SECTIONS.contains(&word) => {
                return Err(body.lexer.error(format!("`{word}` must come before the first T, O or R")));
            }
            _ => return Err(unknown_section(&body.lexer)),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Table {
    Transitions,
    Observations,
}

struct Body<'t> {
    lexer: Lexer<'t>,
    header: Header<'t>,
    tables: Tables,
    /// The numbers of the current line.
    numbers: Vec<f64>,
}

impl Body<'_> {
    /// Numbers up to something else, into `self.numbers`; more than `most` are refused where they stand.
    fn read_numbers(&mut self, most: usize, probabilities: bool) -> Result<()> {
        self.numbers.clear();
        while self.lexer.at_number() {
            if self.numbers.len() == most {
                return Err(self.lexer.error(format!("too many numbers: at most {most} belong here")));
            }
            let place = self.lexer.place;
            let number = self.lexer.number()?;
            if probabilities && !(0.0..=1.0 + ROW_TOLERANCE).contains(&number) {
                return Err(self.lexer.error_at(place, format!("{number} is not a probability")));
            }
            reserve(&mut self.numbers, 1, "a line of numbers")?;
            self.numbers.push(number);
        }
        Ok(())
    }

    /// `T: action [: state [: next state]]` or `O: action [: next state [: observation]]`, then its probabilities.
    fn read_probabilities(&mut self, table: Table) -> Result<()> {
        let states = self.header.states.count;
        let columns =
            if table == Table::Transitions { &self.header.states } else { &self.header.observations };
        let width = columns.count;
        let lexer = &mut self.lexer;
        lexer.advance()?;
        lexer.colon("`T` or `O`")?;
        let actions = self.header.actions.reference(lexer)?;
        let row = if lexer.skips_colon()? { Some(self.header.states.reference(lexer)?) } else { None };
        let column =
            if row.is_some() && lexer.skips_colon()? { Some(columns.reference(lexer)?) } else { None };
        let (rows, filled) = (row.clone().unwrap_or(0..states), column.clone().unwrap_or(0..width));
        self.tables.spend(actions.len() * rows.len() * filled.len())?;

        // The numbers are one entry, one row, or one row for every state: `step` leads from row to row.
        let mut step = 0;
        match (lexer.token, &column) {
            (Token::Word("uniform"), None) => {
                lexer.advance()?;
                self.numbers.clear();
                self.numbers.resize(width, 1.0 / width as f64);
            }
            (Token::Word("reset"), None) if table == Table::Transitions => {
                lexer.advance()?;
                self.numbers.clone_from(&self.header.start);
            }
            (Token::Word("identity"), None) if row.is_none() && width == states => {
                lexer.advance()?;
                self.set_identity(table, actions);
                return Ok(());
            }
            (Token::Word(word @ ("uniform" | "identity" | "reset")), _) => {
                let problem = match word {
                    "uniform" => "`uniform` stands for a row or a matrix, not for one entry",
                    "reset" => "`reset` stands for rows of T only",
                    _ => "`identity` stands for a whole square matrix only",
                };
                return Err(lexer.error(problem));
            }
            _ => {
                let most = if column.is_some() {
                    1
                } else if row.is_some() {
                    width
                } else {
                    states * width
                };
                let place = lexer.place;
                self.read_numbers(most, true)?;
                if self.numbers.is_empty() {
                    return Err(self.lexer.expected("a probability, `uniform`, `identity` or `reset`"));
                }
                if self.numbers.len() < most {
                    let problem =
                        format!("{} probabilities from here on; {most} belong here", self.numbers.len());
                    return Err(self.lexer.error_at(place, problem));
                }
                step = if row.is_none() { width } else { 0 };
            }
        }
        let (numbers, target) = (&self.numbers, self.tables.of(table));
        for action in actions {
            for state in rows.clone() {
                let target = &mut target[(action * states + state) * width..][filled.clone()];
                match column {
                    Some(_) => target.fill(numbers[0]),
                    None => target.copy_from_slice(&numbers[state * step..][..width]),
                }
            }
        }
        Ok(())
    }

    fn set_identity(&mut self, table: Table, actions: std::ops::Range<usize>) {
        let states = self.header.states.count;
        let target = self.tables.of(table);
        for matrix in target.chunks_exact_mut(states * states).take(actions.end).skip(actions.start) {
            matrix.fill(0.0);
            matrix.iter_mut().step_by(states + 1).for_each(|entry| *entry = 1.0);
        }
    }

    /// `R: action [: state [: next state [: observation]]]`, then numbers that run over the indices not named, in
    /// that order; they may leave out the last ones, on which the reward then does not depend.
    fn read_rewards(&mut self) -> Result<()> {
        let Header { states: state_symbols, observations: seen_symbols, .. } = &self.header;
        let (states, width) = (state_symbols.count, seen_symbols.count);
        let lexer = &mut self.lexer;
        lexer.advance()?;
        lexer.colon("`R`")?;
        let actions = self.header.actions.reference(lexer)?;
        let mut ranges = [0..states, 0..states, 0..width];
        let mut named = 0;
        for symbols in [state_symbols, state_symbols, seen_symbols] {
            if !lexer.skips_colon()? {
                break;
            }
            ranges[named] = symbols.reference(lexer)?;
            named += 1;
        }
        let mut lengths = vec![1_usize];
        for extent in &[states, states, width][named..] {
            lengths.push(lengths[lengths.len() - 1].saturating_mul(*extent));
        }
        let place = lexer.place;
        self.read_numbers(lengths[lengths.len() - 1], false)?;
        if self.numbers.is_empty() {
            return Err(self.lexer.expected("a reward"));
        }
        let Some(running) = lengths.iter().position(|&length| length == self.numbers.len()) else {
            let allowed = lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
            let problem = format!("{} rewards from here on; {allowed} belong here", self.numbers.len());
            return Err(self.lexer.error_at(place, problem));
        };
        let runs = [0, 1, 2].map(|index| (named..named + running).contains(&index));
        let [states, nexts, observations] = ranges;
        self.tables.set_rewards(&RewardLine {
            actions,
            states,
            nexts,
            observations,
            numbers: &self.numbers,
            runs,
        })
    }

    /// Checks every row, by name.
    fn finish(mut self) -> Result<PomdpFile> {
        let Header { actions, states, observations, .. } = &self.header;
        let (n_states, width) = (states.count, observations.count);
        for (table, name, width) in [(Table::Transitions, "T", n_states), (Table::Observations, "O", width)] {
            for (row, probs) in self.tables.of(table).chunks_exact_mut(width).enumerate() {
                let place = || format!("{}, {}", actions.label(row / n_states), states.label(row % n_states));
                if probs.iter().all(|&p| p == 0.0) {
                    let problem = format!("no line of the file gives this row of {name} a probability");
                    return Err(Error::Distribution { table: name, row: place(), problem });
                }
                normalise(name, probs, place)?;
            }
        }
        self.tables.finish_rewards(self.header.costs);
        Ok(PomdpFile {
            discount: self.header.discount,
            action_names: actions.names(),
            observation_names: observations.names(),
            state_names: states.names(),
            model: Model {
                n_states,
                n_actions: actions.count,
                n_observations: width,
                transitions: self.tables.transitions,
                observations: self.tables.observations,
                rewards: self.tables.rewards,
                start: self.header.start,
                terminal: vec![false; n_states],
                first_observations: None,
            },
        })
    }
}

impl Tables {
    fn of(&mut self, table: Table) -> &mut [f64] {
        match table {
            Table::Transitions => &mut self.transitions,
            Table::Observations => &mut self.observations,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &str = "discount: 0.5\nvalues: cost\nstates: l r\nactions: 1\nobservations: a b\nstart: r\n\
                        T: * identity\nT: 0 : l reset\nO: 0\n0.25 0.75\n\n1 0\nR: * : * : * : * 2\nR: 0 : l : r : b 3\n";

    #[test]
    fn a_file_becomes_arrays() {
        let file = read(TINY.as_bytes(), 1000, &Ticker::default()).unwrap();
        assert_eq!(file.model.transitions, [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(file.model.observations, [0.25, 0.75, 1.0, 0.0]);
        assert_eq!(file.model.rewards.values, [-2.0, -2.0, -2.0, -3.0, -2.0, -2.0, -2.0, -2.0]);
        assert_eq!(file.model.start, [0.0, 1.0]);
        assert!(file.action_names.is_empty());
    }

    #[test]
    fn every_truncation_and_every_changed_byte_is_read_or_refused() {
        let reads = |bytes: &[u8]| usize::from(read(bytes, 1000, &Ticker::default()).is_ok());
        let mut accepted = 0;
        for place in 0..TINY.len() {
            accepted += reads(&TINY.as_bytes()[..place]);
            for byte in [0, b' ', b':', b'*', b'#', b'-', b'9', b'\n', 0xff] {
                let mut damaged = TINY.as_bytes().to_vec();
                damaged[place] = byte;
                accepted += reads(&damaged);
            }
        }
        assert!(accepted > 0);
    }
}
