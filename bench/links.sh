#!/bin/bash
# Runs a command on ranks that have a network of their own each, over TCP and links of limited speed.
#
#   bench/links.sh RANKS RATE[+DELAY] COMMAND…
#   bench/links.sh 4 1gbit parton run pagerank rmat:20
#   bench/links.sh 4 1gbit+200us parton run pagerank rmat:20
#
# Needs root, iproute2 and Open MPI; a delay needs the kernel's `sch_netem`. Each rank is in a network namespace; all
# are on one bridge. A message between two ranks is delayed once.
set -e
ranks=$1 rate=${2%%+*} delay=
[[ $2 == *+* ]] && delay=${2#*+}
shift 2
bridge=pb$$ network=10.78.0 hosts=

clean() {
    for ((i = 0; i < ranks; i++)); do ip netns del "parton-$$-$i" 2> /dev/null || true; done
    ip link del $bridge 2> /dev/null || true
    rm -f "$agent"
}
trap clean EXIT

agent=$(mktemp)
cat > "$agent" <<'SCRIPT'
#!/bin/bash
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec $host unshare -u bash -c "hostname $host; $*"
SCRIPT
chmod +x "$agent"

ip link add $bridge type bridge
ip addr add $network.254/24 dev $bridge
ip link set $bridge up
for ((i = 0; i < ranks; i++)); do
    name=parton-$$-$i link=pv$$-$i
    ip netns add "$name"
    ip link add $link type veth peer name eth0 netns "$name"
    ip link set $link master $bridge up
    ip -n "$name" addr add $network.$((i + 1))/24 dev eth0
    ip -n "$name" link set eth0 up
    ip -n "$name" link set lo up
    tc qdisc add dev $link root tbf rate "$rate" burst 256kb latency 50ms
    tc -n "$name" qdisc add dev eth0 root handle 1: tbf rate "$rate" burst 256kb latency 50ms
    if [ -n "$delay" ] &&
        ! tc -n "$name" qdisc add dev eth0 parent 1:1 netem delay "$delay" limit 100000; then
        echo "links.sh: this kernel offers no delay (sch_netem): leave out +$delay" >&2
        exit 69
    fi
    hosts+=${hosts:+,}$name
done

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun --mca plm_rsh_agent "$agent" --mca oob_tcp_if_include $network.0/24 \
    --mca btl_tcp_if_include $network.0/24 --mca btl self,tcp --mca pml ob1 \
    --host "$hosts" -n "$ranks" "$@"
