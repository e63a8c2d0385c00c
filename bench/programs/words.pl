# Words counted, lines sorted and changed: what perl is recorded at. Reads the file "text".
use strict;
use warnings;

my (%count, @lines);
open my $in, '<', 'text' or die "text: $!";
while (<$in>) {
    $count{$_}++ for split ' ';
    push @lines, join ' ', reverse split ' ' if $. % 4 == 0;
}
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
my @sorted = sort @lines;
s/([aeiou])(\w)/$2$1/g for @sorted;
print scalar(@top), " $top[0] $count{$top[0]} $sorted[0]\n";
