#!/usr/bin/perl
# Plays by chance, in whichever game: one play a request, and every legal one is equally likely.
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
        print $json->encode({ action => action($message->{kind}, $message->{legal}) }), "\n";
    }
}

# What to answer a request of this kind, made of one legal play.
sub action {
    my ($kind, $legal) = @_;
    return { hand => sample($legal->{choose}, @{ $legal->{hand} }) } if $kind eq 'hand';
    return { plays => [ pick(@{ $legal->{plays} }) ] }               if $kind eq 'turn';
    return { rows => [ pick(@{ $legal->{score} }) ] }                if $kind eq 'score';
    return pick(@{ $legal->{$kind} });
}

# One of the combinations of all products, each as likely as any other. A product maps keys to lists of values: choose
# one value for each key. First one product is chosen, the likelier the more combinations it has.
sub pick {
    my @products = @_;
    my @sizes    = map { size($_) } @products;
    my $total    = 0;
    $total += $_ for @sizes;
    my $left = int rand $total;
    my $at   = 0;
    $left -= $sizes[ $at++ ] while $left >= $sizes[$at];
    my $product = $products[$at];
    return { map { $_ => $product->{$_}[ rand @{ $product->{$_} } ] } sort keys %$product };
}

# How many combinations a product has.
sub size {
    my ($product) = @_;
    my $size = 1;
    $size *= @$_ for values %$product;
    return $size;
}

# So many of the items, in any order.
sub sample {
    my ($count, @items) = @_;
    return [ map { splice @items, rand @items, 1 } 1 .. $count ];
}
