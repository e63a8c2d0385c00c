# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata serve beside the programs that it is for: Debian's Prometheus, whose queries return
# the values; wrk, with 5,000 scrapes and more of which none fails, while the memory stays;
# and Chromium, which shows the page. What is not installed is skipped: `scripts/setup serve`
# installs all three.
. tests/cli/lib.sh

STRATA_METRICS=$root/metrics
export STRATA_METRICS
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
pid='' prometheus='' target=''
stop() {
    for one in $prometheus $pid $target; do kill "$one" && wait "$one"; done 2>/dev/null
    rm -rf "$work"
}
trap stop EXIT

# All processors if that is allowed, else a process of our own
begin() {
    : >"$work/said" # what the one before said is not the answer
    (cd "$work" && exec "$strata" serve --listen 0 -I 200 "$@") >"$work/said" 2>"$work/log" </dev/null &
    pid=$!
    until grep -q Ctrl-C "$work/said"; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    url=$(sed -n 's/^strata: serving .* at \(http[^ ]*\)\/ .*/\1/p' "$work/said")
    [ -n "$url" ] || { wait $pid; pid=; false; }
}
if ! begin; then
    sh -c 'while :; do sleep 0.01; done' &
    target=$!
    begin -p $target || { echo "skip: nothing can be counted: $(cat "$work/log")"; finish; }
fi
curl -s "$url/metrics" >"$work/got"

# Scrapes
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$pid/status"; }
cat >"$work/sum.lua" <<'END'
function done(summary, latency, requests)
    local e = summary.errors
    io.write(string.format("sum %d %d\n", summary.requests,
        e.connect + e.read + e.write + e.status + e.timeout))
end
END
scrape() { wrk -t 1 -c 8 -d 1s --timeout 60s -s "$work/sum.lua" "$url/$1" | sed -n 's/^sum //p'; }
if command -v wrk >/dev/null; then
    scrape metrics >"$work/sum" # the first scrapes bring buffers that stay
    scrape data.json >"$work/sum"
    before=$(resident)
    scrapes=0 failed=0 rounds=0
    while [ $scrapes -lt 5000 ] && [ $rounds -lt 120 ]; do
        scrape metrics >"$work/sum"
        read -r some bad <"$work/sum"
        scrapes=$((scrapes + some)) failed=$((failed + bad)) rounds=$((rounds + 1))
    done
    after=$(resident)
    check "$scrapes scrapes by wrk" [ $scrapes -ge 5000 ]
    check 'none failed' [ $failed -eq 0 ]
    case ${BUILD:-build} in
    *asan*) echo 'skip: with sanitizers, memory that was freed stays resident' ;;
    *) check "resident memory is flat: $before KiB, then $after KiB" [ $((after - before)) -lt 512 ] ;;
    esac
else
    echo 'skip: wrk is not installed'
fi

# Prometheus
# query TEXT: the value of the first series; nothing if there is none
query() {
    curl -s "http://$server/api/v1/query" --data-urlencode "query=$1" |
        jq -r '.data.result[0].value[1] // empty'
}
# settles TEXT: waits until a query has a value, and leaves it in $value
settles() {
    tries=0
    until value=$(query "$1") && [ -n "$value" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || return 1
        sleep 0.2
    done
}
if command -v prometheus >/dev/null; then
    cat >"$work/prometheus.yml" <<END
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: strata
    static_configs:
      - targets: ["${url#http://}"]
END
    (cd "$work" && exec prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb \
        --web.listen-address=127.0.0.1:0) >"$work/prometheus.log" 2>&1 </dev/null &
    prometheus=$!
    until server=$(sed -n 's/.*"Listening on" address=\([^ ]*\).*/\1/p' "$work/prometheus.log") &&
        [ -n "$server" ]; do
        kill -0 $prometheus 2>/dev/null || break
        sleep 0.1
    done
    check 'Prometheus: the target is up' settles 'up{job="strata"} == 1'
    # a value lies between what strata said before and what it says after
    faults() { curl -s "$url/metrics" | awk '/^strata_events_total.event="page-faults"/ { sum += $NF } END { print sum }'; }
    low=$(faults)
    check 'Prometheus: counts' settles "sum(strata_events_total{event=\"page-faults\"}) >= $low"
    high=$(faults)
    check "which are right: $low <= $value <= $high" [ "$value" -le "$high" ]
    check 'Prometheus: rates' settles 'sum(rate(strata_events_total{event="task-clock"}[10s])) > 0'
    check 'Prometheus: all families are there' settles \
        'count(count by (__name__) ({__name__=~"strata_.+"})) >= 12'
    missing=$(grep -c '^strata_event_not_counted' "$work/got")
    if [ "$missing" -gt 0 ]; then
        check 'Prometheus: reasons' settles "count(strata_event_not_counted{reason!=\"\"}) == $missing"
    fi
    kill $prometheus
    wait $prometheus
    prometheus=
else
    echo 'skip: Prometheus is not installed'
fi

# The page
if command -v chromium >/dev/null && command -v python3 >/dev/null; then
    python3 "$root/tests/programs/live_page.py" chromium "$url/" "${STRATA_SHOTS:-$work}" ||
        failures=$((failures + 1))
else
    echo 'skip: Chromium is not installed'
fi

kill $pid
wait $pid
check 'exit status 0 after all of that' [ $? -eq 0 ]
pid=
finish
