import shutil
def sub(f, pairs):
    s=open(f).read()
    for a,b in pairs:
        assert s.count(a)==1,(f,a,s.count(a))
        s=s.replace(a,b)
    open(f,'w').write(s)
sub('ccu/src/ccu/spec/experiment.py',[
("    socket_interval_ms: Annotated[\n","""    mac_pcap: Annotated[
        bool,
        Option(
            "Record the transport blocks for Wireshark, with the headers of MAC, RLC and PDCP.",
            switches=(Switch("--mac-pcap", True),),
        ),
    ] = False
    socket_interval_ms: Annotated[
"""),
('_ABSENT_IF_UNUSED = {radios.KEY, "explain"}','_ABSENT_IF_UNUSED = {radios.KEY, "explain", "mac_pcap"}'),
])
sub('ccu/src/ccu/scenarios/link_config.py',[
('            **({"delays": "delays.npy"} if experiment.explain else {}),\n','            **({"delays": "delays.npy"} if experiment.explain else {}),\n            **({"mac_pcap": "mac.pcap"} if experiment.mac_pcap else {}),\n'),
('    "output.delays": "explain",\n','    "output.delays": "explain",\n    "output.mac_pcap": "mac_pcap",\n'),
])
sub('ccu/src/ccu/testbeds/oai/options.py',[('        if experiment.explain and not self.lockstep:\n','''        if experiment.mac_pcap:
            raise invalid(
                "OpenAirInterface writes a capture of its MAC itself (docs/oai.md)",
                "leave it out",
                key="mac_pcap",
            )
        if experiment.explain and not self.lockstep:
''')])
sub('ccu/src/ccu/testbeds/phone/options.py',[('''        if experiment.explain:
            raise invalid(
                "a phone does not say where the delay of its packets goes",
                "leave it out",
                key="explain",
            )
''','''        for key in ("explain", "mac_pcap"):
            if getattr(experiment, key):
                raise invalid("a phone does not tell what its MAC does", "leave it out", key=key)
''')])
