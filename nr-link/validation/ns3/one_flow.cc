// SPDX-License-Identifier: Apache-2.0
// One TCP flow of ns-3's own models over a link of constant rate with a drop-tail queue.
//
// Usage: one_flow CC RATE_MBPS RTT_MS QUEUE_PACKETS SECONDS
// Prints one JSON line: what the receiver got, what the queue dropped, and the queue's length each ms.
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t MSS_BYTES = 1460;
constexpr uint16_t PORT = 5000;

std::vector<uint32_t> g_queue; // packets, one sample each ms
uint64_t g_dropped = 0;        // packets

void
SampleQueue(Ptr<Queue<Packet>> queue)
{
    g_queue.push_back(queue->GetNPackets());
    Simulator::Schedule(MilliSeconds(1), &SampleQueue, queue);
}

void
OnDrop(Ptr<const Packet>)
{
    ++g_dropped;
}

// Linux's defaults where ns-3 differs: ten packets at first, SACK, windows that never limit.
void
UseLinuxDefaults(const std::string& cc)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::Tcp" + cc));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64 << 20));
    // An ACK for each packet: ns-3's Vegas takes the wait for a second packet for a queue, and stays at 40 Mbit/s.
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    // With timestamps ns-3 measures RTTs in whole ms, which Vegas takes for queues.
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 6)
    {
        std::fprintf(stderr, "usage: one_flow CC RATE_MBPS RTT_MS QUEUE_PACKETS SECONDS\n");
        return 2;
    }
    const std::string cc = argv[1];
    const std::string rate = std::string(argv[2]) + "Mbps";
    const double rtt_ms = std::stod(argv[3]);
    const std::string queue = std::string(argv[4]) + "p";
    const double seconds = std::stod(argv[5]);

    UseLinuxDefaults(cc);
    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(rtt_ms * 500)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(queue)));
    NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // No queue discipline above the device: its queue is the bottleneck's buffer.
    TrafficControlHelper().Uninstall(devices);
    Ptr<Queue<Packet>> bottleneck = DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue();
    // A full queue stops the layer above, which then drops.
    nodes.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop",
                                                                                MakeCallback(&OnDrop));
    SampleQueue(bottleneck);

    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), PORT));
    ApplicationContainer sender = bulk.Install(nodes.Get(0));
    sender.Start(Seconds(0));
    sender.Stop(Seconds(seconds));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    ApplicationContainer receiver = sink.Install(nodes.Get(1));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    const uint64_t received = DynamicCast<PacketSink>(receiver.Get(0))->GetTotalRx();
    std::printf("{\"received_bytes\": %lu, \"dropped_packets\": %lu, \"queue_packets\": [",
                received,
                g_dropped);
    for (size_t i = 0; i < g_queue.size(); ++i)
    {
        std::printf("%s%u", i ? ", " : "", g_queue[i]);
    }
    std::printf("]}\n");
    Simulator::Destroy();
    return 0;
}
