#!/usr/bin/perl
# A bot for any game: it takes the first legal play of each request. `action` is the place for your own idea.
#
# `arena bot bridge` speaks the protocol for it. Each line of standard input is a message of the referee in JSON:
# game_start, request or game_over. Each request, and nothing else, is answered by one line: {"action": {...}}, and
# "note" beside it for what the bot was thinking. Remarks go to standard error: print STDERR "...\n".
use strict;
use warnings;
use JSON::PP;

$| = 1;    # flush each line: what stays in the buffer is never answered

while (my $line = <STDIN>) {    # the end of the input means goodbye
    my $message = decode_json($line);
    next if $message->{type} ne 'request';
    print encode_json({ action => action($message->{kind}, $message->{legal}) }), "\n";
}

# What to answer a request: its kind says which decision, `legal` holds all legal plays. Add view to --want in bot.toml,
# and $message->{view} shows all that this seat may know.
sub action {
    my ($kind, $legal) = @_;
    return { hand => [ @{ $legal->{hand} }[ 0 .. $legal->{choose} - 1 ] ] } if $kind eq 'hand';
    return { plays => [ first($legal->{plays}) ] }                         if $kind eq 'turn';
    return { rows => [ first($legal->{score}) ] }                          if $kind eq 'score';
    return first($legal->{$kind});
}

# Legal plays come as products: maps of keys to lists of values, where one value for each key makes a play.
sub first {
    my ($products) = @_;
    my $product = $products->[0];
    return { map { $_ => $product->{$_}[0] } keys %$product };
}
