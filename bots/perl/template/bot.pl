#!/usr/bin/perl
# A bot for any game: it takes the first legal play of each request. `answer` is the place for your own idea.
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
    print encode_json(answer($message)), "\n";
}

# What to answer a request: its `kind` says which decision, `legal` holds all legal plays. Add view to --want in bot.toml,
# and $message->{view} shows all that this seat may know.
sub answer {
    my ($message) = @_;
    return { action => { plays => [ first_play($message->{legal}) ] } };
}

# The first legal play. Legal plays come as a list of products: each has, for each key of a play, the values to choose
# from.
sub first_play {
    my ($legal) = @_;
    my $product = $legal->[0];
    return { map { $_ => first($product->{$_}) } keys %$product };
}

# The first of some values; several where the product says {choose => n, of => [...]}.
sub first {
    my ($values) = @_;
    return $values->[0] if ref $values eq 'ARRAY';
    return [ @{ $values->{of} }[ 0 .. $values->{choose} - 1 ] ];
}
