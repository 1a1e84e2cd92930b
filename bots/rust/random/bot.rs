//! Plays by chance: one play a request, and every legal one is equally likely.

use std::process::ExitCode;

use arena_bot::{Answer, Bot, Result, Value, list, map, number, run, text};

/// SplitMix64: the same seed, the same numbers.
#[derive(Default)]
struct Chance(u64);

impl Chance {
    /// A number from 0 to `limit` - 1.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        ((u128::from(bits) * limit as u128) >> 64) as usize
    }

    /// So many of some values, each choice of them equally likely.
    fn sample(&mut self, values: &[Value], count: usize) -> Vec<Value> {
        let mut values = values.to_vec();
        for index in 0..count.min(values.len()) {
            let other = index + self.below(values.len() - index);
            values.swap(index, other);
        }
        values.truncate(count);
        values
    }

    /// One of the combinations of all products, each as likely as any other.
    ///
    /// A product maps keys to arrays of values: a combination has one value for each key.
    fn pick(&mut self, products: &Value) -> Result<Value> {
        let products = list(products)?
            .iter()
            .map(read)
            .collect::<Result<Vec<_>>>()?;
        let size = |product: &Product| product.iter().map(|(_, values)| values.len()).product();
        let sizes: Vec<usize> = products.iter().map(size).collect();
        let total = sizes.iter().sum();
        if total == 0 {
            return Err("expected a legal play, got: none".into());
        }
        let mut index = self.below(total);
        let mut choice = 0;
        while index >= sizes[choice] {
            index -= sizes[choice];
            choice += 1;
        }
        Ok(map(products[choice].iter().map(|(key, values)| {
            let value = values[index % values.len()].clone();
            index /= values.len();
            (*key, value)
        })))
    }
}

type Product<'a> = Vec<(&'a str, &'a [Value])>;

/// The keys of a product and their values, in order of name: a map's keys have no order.
fn read(product: &Value) -> Result<Product<'_>> {
    let entries = product.as_map().ok_or("expected a map of legal values")?;
    let entries = entries
        .iter()
        .map(|(key, values)| Ok((text(key)?, list(values)?)));
    let mut product = entries.collect::<Result<Product>>()?;
    product.sort_by_key(|(key, _)| *key);
    Ok(product)
}

#[derive(Default)]
struct Random {
    chance: Chance,
}

impl Bot for Random {
    const NAME: &'static str = "random-rust";
    const VERSION: &'static str = "1.0";
    const WANT: &'static [&'static str] = &["legal"];

    fn start(&mut self, game: &Value) -> Result<()> {
        self.chance = Chance(number(&game["bot_seed"])?.try_into()?);
        Ok(())
    }

    fn decide(&mut self, request: &Value) -> Result<Answer> {
        let legal = &request["legal"];
        let action = match text(&request["kind"])? {
            "hand" => {
                let count = number(&legal["choose"])?.try_into()?;
                map([(
                    "hand",
                    self.chance.sample(list(&legal["hand"])?, count).into(),
                )])
            }
            "setup" => self.chance.pick(&legal["setup"])?,
            "turn" => map([("plays", vec![self.chance.pick(&legal["plays"])?].into())]),
            kind => {
                let expected = "expected a request of kind hand, setup or turn";
                return Err(format!("{expected}, got: {kind}").into());
            }
        };
        Ok(action.into())
    }
}

fn main() -> ExitCode {
    run(Random::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two products, of four combinations and of two.
    fn products() -> Value {
        let values = |values: &[&str]| values.iter().copied().collect();
        let spaces = |spaces: &[u64]| spaces.iter().copied().collect();
        let land = [
            ("tile", values(&["rice2", "rice3"])),
            ("space", spaces(&[4, 9])),
        ];
        let sea = [("space", spaces(&[1, 2])), ("tile", values(&["ship1"]))];
        [map(land), map(sea)].into_iter().collect()
    }

    /// How often each value came.
    fn count<T: Ord>(values: impl Iterator<Item = T>) -> std::collections::BTreeMap<T, u32> {
        let mut counts = std::collections::BTreeMap::new();
        values.for_each(|value| *counts.entry(value).or_default() += 1);
        counts
    }

    #[test]
    fn every_combination_is_equally_likely() {
        let mut chance = Chance(7);
        let picks = (0..6000).map(|_| chance.pick(&products()).unwrap().to_string());
        let counts = count(picks);
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|count| (850..1150).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn every_choice_of_two_of_four_is_equally_likely() {
        let mut chance = Chance(7);
        let values: Vec<Value> = (0..4).map(Value::from).collect();
        let counts = count((0..6000).map(|_| {
            let mut chosen: Vec<_> = chance
                .sample(&values, 2)
                .iter()
                .map(Value::as_u64)
                .collect();
            chosen.sort();
            chosen
        }));
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|count| (850..1150).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn the_same_seed_brings_the_same_choices_whatever_the_order_of_a_map() {
        let mut turned = products();
        if let Value::Array(products) = &mut turned {
            for product in products {
                let Value::Map(fields) = product else {
                    unreachable!()
                };
                fields.reverse();
            }
        }
        let mut picks = [products(), turned].into_iter().map(|products| {
            let mut chance = Chance(2_u64.pow(53) - 1);
            let picks: Vec<_> = (0..20).map(|_| chance.pick(&products).unwrap()).collect();
            picks
        });
        assert_eq!(picks.next(), picks.next());
    }

    #[test]
    fn nothing_legal_is_an_error() {
        let error = Chance(7).pick(&Value::Array(vec![])).unwrap_err();
        assert_eq!(error.to_string(), "expected a legal play, got: none");
    }
}
