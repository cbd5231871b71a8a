State   Recv-Q    Send-Q        Local Address:Port         Peer Address:Port

054727.076843

State   Recv-Q    Send-Q         Local Address:Port        Peer Address:Port
ESTAB   0         79640         192.0.2.129:54770         198.51.100.154:10000
	 cubic wscale:12,12 rto:212 rtt:9.061/4.657 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:10 bytes_acked:38 segs_out:13 segs_in:2 send 12.12.8Mbps lastsnd:20 pacing_rate 25.6Mbps unacked:10

054727.180862
