#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Android's programs that toybox has not, as the phone of the tests answers them: from files in
# $STATE, where they are, else as a phone that is well.
state() { if [ -e "$STATE/$1" ]; then echo "$(cat "$STATE/$1")"; else echo "$2"; fi; }
signal_fields='cqiTableIndex=2147483647 cqi=2147483647 ta=2147483647 level=4'
case ${0##*/}$(state app "") in
# With an app's rights, as Termux has them.
dumpsysapp | settingsapp) echo "Permission Denial: can't dump" ; exit 1 ;;
ipapp) echo "Cannot bind netlink socket: Permission denied"; exit 1 ;;
termux-telephony-cellinfo*)
  cat <<JSON
[
  {"type": "lte", "registered": false, "asu": 97, "dbm": -100, "pci": 5, "rsrp": -100, "bands": [3]},
  {
    "type": "nr", "registered": true, "asu": 64, "dbm": -76, "level": 4, "pci": 77,
    "ss_rsrp": $(state rsrp -71), "ss_rsrq": -11, "ss_sinr": 19, "bands": [78]
  }
]
JSON
  ;;
termux-battery-status*) echo '{"health": "GOOD", "percentage": 90, "temperature": 30.1}' ;;
termux-wifi-connectioninfo*)
  echo "{\"ip\": \"0.0.0.0\", \"supplicant_state\": \"$(state wifi DISCONNECTED)\"}"
  ;;
date*)
  # toybox's own, ahead by what the test says
  now=$(toybox date +%s.%N)
  ahead=$(state clock_ahead_s 0)
  echo "$((${now%.*} + ahead)).${now#*.}"
  ;;
dumpsys)
  case $1 in
  telephony.registry)
    if [ -e "$STATE/registry" ]; then
      cat "$STATE/registry"
      exit
    fi
    rsrp=$(state rsrp -71)
    echo "last known state:"
    echo "  Phone Id=0"
    echo "    mServiceState={mVoiceRegState=0(IN_SERVICE), mDataRegState=0(IN_SERVICE), getRilDataRadioTechnology=20(NR_SA), mNetworkRegistrationInfos=[NetworkRegistrationInfo{ domain=PS transportType=WWAN accessNetworkTechnology=NR nrState=NONE}]}"
    echo "    mSignalStrength=SignalStrength:{mCdma=Invalid,mGsm=Invalid,mWcdma=Invalid,mTdscdma=Invalid,mLte=CellSignalStrengthLte: rssi=2147483647 rsrp=2147483647 rsrq=2147483647 rssnr=2147483647 $signal_fields,mNr=CellSignalStrengthNr:{ csiRsrp = 2147483647 csiRsrq = 2147483647 csiCqiTableIndex = 2147483647 csiCqiReport = [] ssRsrp = $rsrp ssRsrq = -11 ssSinr = 19 level = 4 parametersUseForLevel = 0 },primary=CellSignalStrengthNr}"
    echo "    mDataConnectionState=2"
    echo "    mPhysicalChannelConfigs=[{mConnectionStatus=PrimaryServing,mCellBandwidthDownlinkKhz=100000,mNetworkType=NR,mPhysicalCellId=$(state pci 77),mBand=78,mDownlinkChannelNumber=636666}]"
    ;;
  battery) printf '  level: 90\n  temperature: 301\n' ;;
  thermalservice) printf 'Thermal Status: 0\nCurrent temperatures from HAL:\n\tTemperature{mValue=36.5, mType=3, mName=skin, mStatus=0}\n' ;;
  power) echo "  mWakefulness=$(state wakefulness Awake)" ;;
  netpolicy) echo "NetworkPolicy{limitBytes=$(state limit_bytes -1) metered=true}" ;;
  netstats)
    echo "Xt stats:"; echo "  Complete history:"
    echo "  ident=[{type=0, subscriberId=310260..., metered=true}] uid=-1 set=ALL tag=0x0"
    echo "    NetworkStatsHistory: bucketDuration=7200"
    echo "      st=$(toybox date +%s) rb=$(state used_bytes 0) rp=1 tb=0 tp=1 op=0"
    echo "UID stats:"
    ;;
  esac
  ;;
getprop*)
  case $1 in
  ro.product.model) echo "Test 5G" ;;
  ro.build.version.release) echo 14 ;;
  gsm.sim.state) state sim LOADED ;;
  *) echo ;;
  esac
  ;;
settings)
  case $3 in
  airplane_mode_on) state airplane 0 ;;
  mobile_data) state mobile_data 1 ;;
  multi_sim_data_call) echo 1 ;;
  esac
  ;;
pidof*)
  # For a service of Android's: the shell that asks.
  echo $PPID
  ;;
ip)
  # Android's, of which the tests need the route alone
  if [ -e "$STATE/route" ]; then cat "$STATE/route"; else PATH=/usr/sbin:/sbin:/usr/bin:/bin ip "$@"; fi
  ;;
esac
