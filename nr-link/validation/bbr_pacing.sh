#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What BBR keeps in flight with its pacing and without it, over 100 Mbit/s, 15 ms and a queue of 1000 packets, in virtual time.
#
# Linux before 4.13 paces BBR with the qdisc fq only. This kernel paces a socket itself unless fq does, so that a flow that
# began over fq, which pfifo then replaces, is not paced. (Its RTT as TCP sees it is too small then: TCP counts from the
# time when fq would have sent.)
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
seq 0 8310 | awk '{ print int($1 / 8.311) + 1 }' > "$folder/100-mbps"  # opportunities of 1504 bytes in 1 s, by their ms

cat > "$folder/flow" <<'EOF'
device=$(ip -o route get "$NR_LINK_SERVER" | sed 's/.* dev \([^ ]*\).*/\1/')
if [ "$1" = without ]; then tc qdisc replace dev "$device" root fq limit 100000 flow_limit 100000; fi
iperf3 --client "$NR_LINK_SERVER" --congestion bbr --time 20 > /dev/null &
sleep 1
if [ "$1" = without ]; then tc qdisc replace dev "$device" root pfifo limit 100000; fi
for _ in $(seq 10); do
    sleep 1.5
    ss --tcp --info --no-header dst "$NR_LINK_SERVER" | grep -o 'bbr:.*unacked:[0-9]*' | sed 's/.*unacked:/packets in flight: /'
done
EOF

for pacing in with without; do
    echo "$pacing pacing"
    .venv/bin/nr-link shell --virtual --trace "$folder/100-mbps" "$folder/100-mbps" --delay-ms 7.5 --queue-packets 1000 \
        --server 'iperf3 --server > /dev/null' -- sh -c "sleep 1; sh $folder/flow $pacing"
done
