//! The states, actions or observations of a file: a count, or names.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::Result;
use crate::formats::lexer::{Lexer, Token, excerpt, looks_numeric};

/// Words with a meaning of their own; none can be a name.
pub const RESERVED: [&str; 16] = [
    "discount",
    "values",
    "states",
    "actions",
    "observations",
    "start",
    "include",
    "exclude",
    "T",
    "O",
    "R",
    "uniform",
    "identity",
    "reset",
    "reward",
    "cost",
];

/// No kind of symbol may have more members: a count costs a few bytes in the file, and much memory as names.
pub const MAX_SYMBOLS: usize = 1 << 20;

/// What a name may hold. Cassandra's reader takes letters, digits, `_` and `-`; files in the wild use more.
/// Brackets, commas and quotes belong to dialects that mean something else by them.
fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || "_-.+/'@$%&=<>!?~^|".contains(character)
}

/// Why the format cannot express this name, if it cannot.
pub fn fault(name: &str) -> Option<String> {
    if RESERVED.contains(&name) {
        return Some("is a word of the format, not a name".into());
    }
    if name.is_empty() || looks_numeric(name) {
        return Some("begins like a number; a name begins with a letter".into());
    }
    let stranger = name.chars().find(|&character| !is_name_character(character))?;
    Some(format!("holds {stranger:?}; symbolic and many-dimensional dialects are not part of the format"))
}

/// One kind of symbol, and the way from what a file calls it to its number.
pub struct Symbols<'t> {
    pub kind: &'static str,
    pub count: usize,
    names: Vec<&'t str>,
    numbers: HashMap<&'t str, usize>,
}

impl<'t> Symbols<'t> {
    /// What follows `states:`, `actions:` or `observations:`.
    pub fn read(kind: &'static str, lexer: &mut Lexer<'t>) -> Result<Self> {
        let mut symbols = Symbols { kind, count: 0, names: vec![], numbers: HashMap::new() };
        if lexer.at_number() {
            symbols.read_count(lexer)?;
            return Ok(symbols);
        }
        while let Token::Word(name) = lexer.token {
            if RESERVED.contains(&name) {
                break;
            }
            if lexer.followed_by_colon() {
                return Err(lexer.error(format!("unknown section {}", excerpt(name))));
            }
            if let Some(fault) = fault(name) {
                return Err(lexer.error(format!("{kind} {} {fault}", excerpt(name))));
            }
            if symbols.numbers.insert(name, symbols.names.len()).is_some() {
                return Err(lexer.error(format!("{kind} {} is listed twice", excerpt(name))));
            }
            symbols.names.push(name);
            lexer.advance()?;
        }
        symbols.count = symbols.names.len();
        if symbols.count == 0 {
            return Err(lexer.expected(&format!("the number of {kind}s or their names")));
        }
        symbols.refuse_too_many(lexer)?;
        Ok(symbols)
    }

    fn read_count(&mut self, lexer: &mut Lexer<'t>) -> Result<()> {
        let kind = self.kind;
        let counted = match lexer.token {
            Token::Word(word) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
                word.parse().unwrap_or(usize::MAX)
            }
            _ => 0,
        };
        if counted == 0 {
            return Err(lexer.expected(&format!("a whole number of {kind}s, at least 1, or their names")));
        }
        self.count = counted;
        self.refuse_too_many(lexer)?;
        lexer.advance()?;
        match lexer.token {
            Token::Word(word) if !RESERVED.contains(&word) && !lexer.followed_by_colon() => {
                Err(lexer.error(format!(
                    "{} after the number of {kind}s: give one number or only names; \
                 many-dimensional {kind}s are not part of the format",
                    excerpt(word)
                )))
            }
            _ => Ok(()),
        }
    }

    fn refuse_too_many(&self, lexer: &Lexer<'t>) -> Result<()> {
        if self.count > MAX_SYMBOLS {
            let problem = format!("more than {MAX_SYMBOLS} {}s; dense tables cannot hold them", self.kind);
            return Err(lexer.error(problem));
        }
        Ok(())
    }

    /// A name, a number counted from zero, or `*` for all.
    pub fn reference(&self, lexer: &mut Lexer<'t>) -> Result<Range<usize>> {
        let Symbols { kind, count, .. } = *self;
        let range = match lexer.token {
            Token::Star => 0..count,
            Token::Word(word) if looks_numeric(word) => {
                let digits = word.bytes().all(|byte| byte.is_ascii_digit());
                match word.parse::<usize>().ok().filter(|&number| digits && number < count) {
                    Some(number) => number..number + 1,
                    None => {
                        let problem = format!(
                            "there is no {kind} {}: they count from 0 to {}",
                            excerpt(word),
                            count - 1
                        );
                        return Err(lexer.error(problem));
                    }
                }
            }
            Token::Word(word) => match self.numbers.get(word) {
                Some(&number) => number..number + 1,
                None if RESERVED.contains(&word) => return Err(lexer.expected(&format!("the {kind}"))),
                None => return Err(lexer.error(format!("there is no {kind} {}", excerpt(word)))),
            },
            _ => return Err(lexer.expected(&format!("the {kind}: a name, a number or `*`"))),
        };
        lexer.advance()?;
        Ok(range)
    }

    /// What to call a member in a message.
    pub fn label(&self, number: usize) -> String {
        match self.names.get(number) {
            Some(name) => format!("{} {}", self.kind, excerpt(name)),
            None => format!("{} {number}", self.kind),
        }
    }

    /// The names, or nothing if the file only counts.
    pub fn names(&self) -> Vec<String> {
        self.names.iter().map(std::string::ToString::to_string).collect()
    }
}
