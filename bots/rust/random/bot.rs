//! Plays by chance, any game: one play a request, and every legal one is equally likely.

use std::process::ExitCode;

use arena_bot::{Answer, Bot, Result, Value, action, list, map, number, run, text};

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

    /// A number from 0 up to `limit`, which is not reached.
    fn fraction(&mut self, limit: f64) -> f64 {
        const FINEST: usize = 1 << 53;
        self.below(FINEST) as f64 / FINEST as f64 * limit
    }

    /// One of the plays that can be made of some products, each as likely as any other: first a
    /// product, the likelier the more plays it makes, then a value for each key.
    fn pick(&mut self, products: &Value) -> Result<Value> {
        let products = list(products)?
            .iter()
            .map(read)
            .collect::<Result<Vec<_>>>()?;
        let sizes: Vec<f64> = products.iter().map(plays).collect();
        let mut left = self.fraction(sizes.iter().sum());
        let mut chosen = None;
        for (product, size) in products.iter().zip(sizes) {
            if left >= 0.0 && size > 0.0 {
                chosen = Some(product);
            }
            left -= size;
        }
        let chosen = chosen.ok_or("expected a legal play, got: none")?;
        let entries = chosen
            .iter()
            .map(|(key, choice)| (*key, self.choose(choice)));
        Ok(map(entries))
    }

    /// One of the values of a key, or several where the product says so.
    fn choose(&mut self, choice: &Choice) -> Value {
        match choice {
            Choice::One(values) => values[self.below(values.len())].clone(),
            Choice::Several(count, values) => self.sample(values, *count).into(),
        }
    }
}

/// What a product offers for a key: one of some values, or so many of them.
enum Choice<'a> {
    One(&'a [Value]),
    Several(usize, &'a [Value]),
}

impl Choice<'_> {
    /// How many choices there are.
    fn ways(&self) -> f64 {
        match self {
            Choice::One(values) => values.len() as f64,
            Choice::Several(count, values) if *count > values.len() => 0.0,
            Choice::Several(count, values) => (0..*count).fold(1.0, |ways, index| {
                ways * (values.len() - index) as f64 / (index + 1) as f64
            }),
        }
    }
}

type Product<'a> = Vec<(&'a str, Choice<'a>)>;

/// How many plays a product makes.
fn plays(product: &Product) -> f64 {
    product.iter().map(|(_, choice)| choice.ways()).product()
}

/// The keys of a product and their values, in order of name: a map's keys have no order.
fn read(product: &Value) -> Result<Product<'_>> {
    let entries = product.as_map().ok_or("expected a map of legal values")?;
    let entries = entries.iter().map(|(key, values)| {
        let choice = match values {
            Value::Array(values) => Choice::One(values),
            _ => Choice::Several(number(&values["choose"])?.try_into()?, list(&values["of"])?),
        };
        Ok((text(key)?, choice))
    });
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
        Ok(action([self.chance.pick(&request["legal"])?]).into())
    }
}

fn main() -> ExitCode {
    run(Random::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two products that make four plays and two.
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
    fn a_product_is_the_likelier_the_more_plays_it_makes() {
        let hand = map([
            ("choose", 2.into()),
            ("of", (0..4).map(Value::from).collect()),
        ]);
        let none = map([("choose", 0.into()), ("of", Value::Array(vec![]))]);
        let bets: Value = [1, 2, 3].into_iter().collect();
        let hands = map([("bet", bets), ("hand", hand)]); // 18 plays
        let products: Value = [map([("hand", none)]), hands].into_iter().collect();
        let mut chance = Chance(7);
        let picks = (0..19_000).map(|_| chance.pick(&products).unwrap());
        let counts = count(picks.map(|play| list(&play["hand"]).unwrap().len()));
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [0, 2]);
        assert!((900..1100).contains(&counts[&0]), "{counts:?}");
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
        let too_many = map([("choose", 2.into()), ("of", [1].into_iter().collect())]);
        let none = Value::Array(vec![]);
        for product in [None, Some(none.clone()), Some(too_many)] {
            let products = product.map(|values| map([("tile", values)]));
            let error = Chance(7).pick(&products.into_iter().collect()).unwrap_err();
            assert_eq!(error.to_string(), "expected a legal play, got: none");
        }
    }
}
