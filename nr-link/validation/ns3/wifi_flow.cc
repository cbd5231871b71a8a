// SPDX-License-Identifier: Apache-2.0
// One TCP flow of ns-3's own models from a station over 802.11 and its access point to a wired host.
//
// Usage: wifi_flow CC n|ac PHY_MODE PACKETS_PER_ACK SECONDS SEED
// Prints one JSON line, counted after the first fifth of the time: what the receiver got, the mean RTT,
// retransmissions, and the blocks of ACKs that arrive between two transmissions of data (Lin et al., section 6.1.1).
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>
#include <ns3/wifi-module.h>

#include <cstdio>
#include <string>

using namespace ns3;

namespace
{

constexpr uint32_t MSS_BYTES = 1448;
constexpr uint16_t PORT = 5000;
constexpr uint32_t STREAMS = 2;    // both radios of the source: 300 and 866 Mbit/s
constexpr double DISTANCE_M = 3.0; // a frame is lost by collision alone

bool g_counting = false;
bool g_sent_data = false; // since the last ACK
uint64_t g_blocks = 0;
uint64_t g_acks = 0;
uint64_t g_received = 0; // bytes
uint64_t g_retransmissions = 0;
SequenceNumber32 g_highest(0);
double g_rtt_sum_s = 0;
uint64_t g_rtt_count = 0;

void
OnAir(Ptr<const Packet> frame, double)
{
    g_sent_data |= frame->GetSize() > MSS_BYTES;
}

void
OnAck(Ptr<const Packet>)
{
    if (g_counting)
    {
        ++g_acks;
        g_blocks += g_sent_data;
    }
    g_sent_data = false;
}

void
OnReceived(Ptr<const Packet> packet, const Address&)
{
    g_received += g_counting ? packet->GetSize() : 0;
}

void
OnSegment(Ptr<const Packet> segment, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (segment->GetSize() == 0)
    {
        return;
    }
    const bool again = header.GetSequenceNumber() < g_highest;
    g_retransmissions += g_counting && again;
    g_highest = again ? g_highest : header.GetSequenceNumber();
}

void
OnRtt(Time, Time rtt)
{
    if (g_counting)
    {
        g_rtt_sum_s += rtt.GetSeconds();
        ++g_rtt_count;
    }
}

void
FollowSocket()
{
    const std::string socket = "/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/";
    Config::ConnectWithoutContext(socket + "RTT", MakeCallback(&OnRtt));
    Config::ConnectWithoutContext(socket + "Tx", MakeCallback(&OnSegment));
}

void
UseSettingsOfTheSource(const std::string& cc, uint32_t packets_per_ack)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::Tcp" + cc));
    // Linux has Westwood+.
    Config::SetDefault("ns3::TcpWestwood::ProtocolType", EnumValue(TcpWestwood::WESTWOODPLUS));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    // Section 4.4: socket buffers of 6 MB, queues of 1000 packets; no RTS.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(6 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(packets_per_ack));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    // With timestamps ns-3 measures RTTs in whole ms, of which BBR makes another window.
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("128p")));
}

NetDeviceContainer
InstallWifi(const NodeContainer& stations, bool ac, const std::string& mode)
{
    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("Antennas", UintegerValue(STREAMS));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(STREAMS));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(STREAMS));
    phy.Set("ChannelSettings", StringValue(ac ? "{42, 80, BAND_5GHZ, 0}" : "{3, 40, BAND_2_4GHZ, 0}"));
    WifiHelper wifi;
    wifi.SetStandard(ac ? WIFI_STANDARD_80211ac : WIFI_STANDARD_80211n);
    wifi.ConfigHtOptions("ShortGuardIntervalSupported", BooleanValue(true));
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(mode),
                                 "ControlMode",
                                 StringValue(ac ? "OfdmRate24Mbps" : "ErpOfdmRate24Mbps"));
    WifiMacHelper mac;
    const Ssid ssid("wlan");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid));
    NetDeviceContainer devices = wifi.Install(phy, mac, stations.Get(0));
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid));
    devices.Add(wifi.Install(phy, mac, stations.Get(1)));
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        Ptr<WifiMac> station = DynamicCast<WifiNetDevice>(devices.Get(i))->GetMac();
        station->SetAttribute("BE_MaxAmpduSize", UintegerValue(ac ? 1048575 : 65535));
    }
    return devices;
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 7)
    {
        std::fprintf(stderr, "usage: wifi_flow CC n|ac PHY_MODE PACKETS_PER_ACK SECONDS SEED\n");
        return 2;
    }
    const bool ac = std::string(argv[2]) == "ac";
    const double seconds = std::stod(argv[5]);
    const double counted_from = seconds / 5;
    RngSeedManager::SetRun(std::stoul(argv[6]));
    UseSettingsOfTheSource(argv[1], std::stoul(argv[4]));

    NodeContainer nodes; // the station, its access point, the wired host
    nodes.Create(3);
    MobilityHelper mobility;
    Ptr<ListPositionAllocator> positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 0));
    positions->Add(Vector(DISTANCE_M, 0, 0));
    mobility.SetPositionAllocator(positions);
    mobility.Install(NodeContainer(nodes.Get(0), nodes.Get(1)));
    NetDeviceContainer radio = InstallWifi(nodes, ac, argv[3]);
    PointToPointHelper ethernet;
    ethernet.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    ethernet.SetChannelAttribute("Delay", TimeValue(MicroSeconds(100)));
    NetDeviceContainer wire = ethernet.Install(nodes.Get(1), nodes.Get(2));

    InternetStackHelper().Install(nodes);
    TrafficControlHelper queue;
    queue.SetRootQueueDisc("ns3::PfifoFastQueueDisc", "MaxSize", StringValue("1000p"));
    queue.Install(radio.Get(0));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(radio);
    addresses.SetBase("10.0.1.0", "255.255.255.0");
    Ipv4InterfaceContainer wired = addresses.Assign(wire);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(wired.GetAddress(1), PORT));
    bulk.Install(nodes.Get(0)).Start(Seconds(1)); // the station has associated
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    Ptr<Application> receiver = sink.Install(nodes.Get(2)).Get(0);
    receiver->TraceConnectWithoutContext("Rx", MakeCallback(&OnReceived));
    Ptr<WifiNetDevice> station = DynamicCast<WifiNetDevice>(radio.Get(0));
    station->GetPhy()->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&OnAir));
    station->GetMac()->TraceConnectWithoutContext("MacRx", MakeCallback(&OnAck));
    Simulator::Schedule(Seconds(1.001), &FollowSocket);
    Simulator::Schedule(Seconds(counted_from), [] { g_counting = true; });
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    const double counted_s = seconds - counted_from;
    std::printf("{\"goodput_mbps\": %.3f, \"rtt_mean_ms\": %.4f, \"retransmissions_per_s\": %.4f, "
                "\"ack_blocks_per_s\": %.2f, \"acks_per_block\": %.3f}\n",
                g_received * 8e-6 / counted_s,
                g_rtt_count ? 1e3 * g_rtt_sum_s / g_rtt_count : 0.0,
                g_retransmissions / counted_s,
                g_blocks / counted_s,
                g_blocks ? double(g_acks) / g_blocks : 0.0);
    Simulator::Destroy();
    return 0;
}
