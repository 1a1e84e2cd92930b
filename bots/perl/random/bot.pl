#!/usr/bin/perl
# Plays by chance, any game: one play a request, and every legal one is equally likely.
#
# It knows neither ZeroMQ nor msgpack: `arena bot bridge -- perl bot.pl` speaks the protocol for it. Each line of
# standard input is a message of the referee in JSON; each request is answered by one line, {"action": {...}}.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # what stays in the buffer is never answered
my $json = JSON::PP->new->utf8->canonical;

while (my $line = <STDIN>) {
    my $message = $json->decode($line);
    if ($message->{type} eq 'game_start') {
        srand($message->{bot_seed} % 2**32);    # the same deal, the same plays
    }
    elsif ($message->{type} eq 'request') {
        print $json->encode({ action => { plays => [ pick(@{ $message->{legal} }) ] } }), "\n";
    }
}

# One of the plays that can be made of some products, each as likely as any other: first a product, the likelier the
# more plays it makes, then a value for each key.
sub pick {
    my @products = @_;
    my @sizes    = map { plays($_) } @products;
    my $total    = 0;
    $total += $_ for @sizes;
    my $left = rand $total;
    my $at   = 0;
    $left -= $sizes[ $at++ ] while $at < $#sizes && $left >= $sizes[$at];
    my $product = $products[$at];
    return { map { $_ => choose($product->{$_}) } sort keys %$product };
}

# How many plays a product makes.
sub plays {
    my ($product) = @_;
    my $count = 1;
    $count *= ways($_) for values %$product;
    return $count;
}

# How many choices the values of a key offer: a list to choose one from, or a map {choose, of} to choose several from.
sub ways {
    my ($values) = @_;
    return scalar @$values if ref $values eq 'ARRAY';
    my $count = 1;
    $count *= (@{ $values->{of} } - $_) / ($_ + 1) for 0 .. $values->{choose} - 1;
    return $count;
}

# One of the values of a key, or several where the product says so.
sub choose {
    my ($values) = @_;
    return $values->[ rand @$values ] if ref $values eq 'ARRAY';
    my @left = @{ $values->{of} };
    return [ map { splice @left, rand @left, 1 } 1 .. $values->{choose} ];
}
