//! Mazes: cells, neighbours, lines of sight, and the ghosts of the PocMan family.

use crate::rng::Rng;
use crate::simulate::planning::Actions;

pub const NONE: u8 = 4;
pub const NORTH: u8 = 0;
pub const EAST: u8 = 1;
pub const SOUTH: u8 = 2;
pub const WEST: u8 = 3;

/// Where a ghost is, and the direction of its last move, or `NONE`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ghost {
    pub(crate) cell: u8,
    pub(crate) last: u8,
}

/// Passable cells are numbered from the top left, row by row. Directions are N, E, S, W.
pub struct Maze {
    rows: Vec<String>,
    /// (row, column) of every cell, rows counted from the top.
    pub places: Vec<(i16, i16)>,
    /// Bit d is set if one can leave in direction d.
    pub exits: Vec<u8>,
    next: Vec<[u8; 4]>,
    /// `sight[a * n + b]`: the bit of the direction in which b is seen from a, 0 if it is not.
    sight: Vec<u8>,
}

impl Maze {
    /// Reads a map of `#` walls; `passage` is the row whose first and last cells are joined.
    pub fn parse(map: &str, passage: Option<usize>) -> Self {
        let rows: Vec<String> = map.lines().map(String::from).collect();
        let free = |row: usize, column: usize| !matches!(rows[row].as_bytes()[column], b'#' | b'<' | b'>');
        let mut places = Vec::new();
        for (row, line) in rows.iter().enumerate() {
            places.extend((0..line.len()).filter(|&c| free(row, c)).map(|c| (row as i16, c as i16)));
        }
        let count = places.len();
        let cell_at = |place: (i16, i16)| places.iter().position(|&other| other == place);
        let ahead = |(row, column): (i16, i16), direction: u8| match direction {
            NORTH => (row - 1, column),
            EAST => (row, column + 1),
            SOUTH => (row + 1, column),
            _ => (row, column - 1),
        };
        let in_row =
            |row| places.iter().enumerate().filter(move |(_, p)| p.0 as usize == row).map(|(cell, _)| cell);
        let ends = passage.map(|row| (in_row(row).next().unwrap(), in_row(row).next_back().unwrap()));
        let mut next: Vec<[u8; 4]> = (0..count).map(|cell| [cell as u8; 4]).collect();
        let mut exits = vec![0; count];
        let mut sight = vec![0; count * count];
        for cell in 0..count {
            for direction in NORTH..=WEST {
                let through = match (ends, direction) {
                    (Some((first, last)), WEST) if cell == first => Some(last),
                    (Some((first, last)), EAST) if cell == last => Some(first),
                    _ => None,
                };
                if let Some(target) = cell_at(ahead(places[cell], direction)).or(through) {
                    next[cell][direction as usize] = target as u8;
                    exits[cell] |= 1 << direction;
                }
                let mut seen = ahead(places[cell], direction);
                while let Some(target) = cell_at(seen) {
                    sight[cell * count + target] = 1 << direction;
                    seen = ahead(seen, direction);
                }
            }
        }
        Maze { rows, places, exits, next, sight }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The cell at (row from the top, column). Panics on a wall: only used with places written in the code.
    pub fn cell(&self, row: usize, column: usize) -> u8 {
        self.places.iter().position(|&p| p == (row as i16, column as i16)).expect("a passable cell") as u8
    }

    /// Cells whose map character satisfies the test.
    pub fn cells_with(&self, wanted: impl Fn(u8) -> bool) -> Vec<u8> {
        let tile = |&(row, column): &(i16, i16)| self.rows[row as usize].as_bytes()[column as usize];
        (0..self.len()).filter(|&cell| wanted(tile(&self.places[cell]))).map(|cell| cell as u8).collect()
    }

    #[inline]
    pub fn can_go(&self, cell: u8, direction: u8) -> bool {
        self.exits[cell as usize] >> direction & 1 == 1
    }

    /// The cell itself where there is no way.
    #[inline]
    pub fn ahead(&self, cell: u8, direction: u8) -> u8 {
        self.next[cell as usize][direction as usize]
    }

    #[inline]
    pub fn seen_from(&self, cell: u8, other: u8) -> u8 {
        self.sight[cell as usize * self.places.len() + other as usize]
    }

    #[inline]
    pub fn distance(&self, a: u8, b: u8) -> i16 {
        let ((row, column), (other_row, other_column)) = (self.places[a as usize], self.places[b as usize]);
        (row - other_row).abs() + (column - other_column).abs()
    }

    /// Signed distance from `chaser` to `target` along each direction; negative is towards the target. Walls
    /// and the passage do not count.
    #[inline]
    pub fn signed_distances(&self, chaser: u8, target: u8) -> [i16; 4] {
        let ((row, column), (other_row, other_column)) =
            (self.places[chaser as usize], self.places[target as usize]);
        [other_row - row, column - other_column, row - other_row, other_column - column]
    }

    /// Directions that lead somewhere and do not turn back. Never empty: the mazes have no dead ends.
    #[inline]
    pub fn onward(&self, cell: u8, last: u8) -> u8 {
        let back = if last == NONE { 0 } else { 1 << ((last + 2) % 4) };
        self.exits[cell as usize] & !back
    }

    /// A ghost goes anywhere but back, and remembers the direction.
    #[inline]
    pub fn wander(&self, ghost: &mut Ghost, rng: &mut Rng) {
        let onward = Actions::Bits(self.onward(ghost.cell, ghost.last).into());
        let direction = onward.pick(4, rng) as u8;
        *ghost = Ghost { cell: self.ahead(ghost.cell, direction), last: direction };
    }

    /// One or two ghosts are put anywhere; false if one came upon the player.
    pub fn scatter(&self, ghosts: &mut [Ghost], player: u8, rng: &mut Rng) -> bool {
        (0..=rng.below(2)).all(|_| {
            let ghost = &mut ghosts[rng.below(ghosts.len())];
            *ghost = Ghost { cell: rng.below(self.len()) as u8, last: NONE };
            ghost.cell != player
        })
    }

    /// Directions to a visible ghost while it can be eaten; otherwise neither to a visible ghost nor back.
    #[inline]
    pub fn sensible(&self, cell: u8, visible: u8, back: u8, powered: bool) -> u8 {
        if powered && visible != 0 { visible } else { self.exits[cell as usize] & !visible & !(1 << back) }
    }

    /// The map with `marks` drawn over it, later marks on top; `blank` replaces every tile that is not a wall.
    pub fn render(&self, marks: impl Iterator<Item = (u8, char)>) -> String {
        let wall_or_blank = |tile: char| if matches!(tile, '#' | '<' | '>') { tile } else { ' ' };
        let mut canvas: Vec<Vec<char>> =
            self.rows.iter().map(|row| row.chars().map(wall_or_blank).collect()).collect();
        for (cell, mark) in marks {
            let (row, column) = self.places[cell as usize];
            canvas[row as usize][column as usize] = mark;
        }
        canvas.into_iter().map(String::from_iter).collect::<Vec<_>>().join("\n")
    }
}
