//! What crosses the bus, and when.

use parton_engine::device::DeviceProgram;
use parton_graph::GlobalId;
use parton_net::Cluster;
use parton_partition::{Input, Plan};
use parton_sync::Value;

use super::*;
use crate::emulated::{Emulated, Settings};

/// A field of a host with two peers, in which all proxies are updated and have their global ids as values.
fn field(driver: &Arc<Emulated>, partition: &Partition) -> DeviceField {
    let shared: Arc<dyn Driver> = driver.clone();
    let program = DeviceProgram::new("", &[]).with_type::<()>("Weight");
    let names = kernel_names("labels");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (text, defines) = (text("labels", "u32", "Latest<u32>"), "typedef u32 Offset;\n");
    let kernels = Kernels::new(&shared, &program, defines, &[&text], &names).expect("kernels");
    let (proxies, kind) = (partition.num_proxies(), (u32::KIND, Delivery::Label));
    let mut field = DeviceField::new("labels", &Arc::new(kernels), &shared, proxies, kind, true)
        .expect("a field");
    field.prepare(partition).expect("memory for messages");
    field.values.upload(0, bytemuck::cast_slice(partition.globals())).expect("values");
    field.updated.queue_fill(0xff).expect("a device");
    field
}

/// The values that a route to this peer carries.
fn values(field: &DeviceField, route: &Route<'_>) -> Vec<u32> {
    let staging = &mut Staging::default();
    let extracted = field.extract(route, Which::Updated, staging).expect("values");
    bytemuck::pod_collect_to_vec(extracted.values)
}

#[test]
fn a_route_is_there_while_the_next_is_on_its_way() {
    let input = Input::open("rmat:8").expect("a graph");
    let parts = Cluster::local(3).launch(|net| Partition::build(net, &input, &Plan::new("oec")));
    let partition = &parts.expect("partitions")[0];
    let driver = Arc::new(Emulated::new(Settings::default()));
    let mut field = field(&driver, partition);
    let routes: Vec<_> = [1, 2]
        .map(HostId)
        .map(|peer| Route::masters(peer, partition.routes(peer), End::Either, partition.globals()))
        .into();
    let expected: Vec<Vec<u32>> = routes
        .iter()
        .map(|route| {
            let global = |local: parton_graph::LocalId| partition.global(local);
            route
                .locals(Places::All)
                .map(|local| {
                    let GlobalId(id) = global(local);
                    id as u32
                })
                .collect()
        })
        .collect();
    assert!(expected.iter().all(|ids| !ids.is_empty()), "both peers have mirrors");

    field.outgoing.batches.min_bytes = 1;
    field.begin_extract(Phase::Broadcast, &routes).expect("packing");
    assert_eq!(driver.num_queued(), 3, "packing, and a copy for each route");
    assert_eq!(values(&field, &routes[0]), expected[0]);
    assert_eq!(driver.num_queued(), 1, "the second copy is under way");
    assert_eq!(values(&field, &routes[1]), expected[1]);
    assert_eq!(driver.num_queued(), 0);

    // Short routes share a copy.
    field.outgoing.batches.min_bytes = usize::MAX;
    field.begin_extract(Phase::Broadcast, &routes).expect("packing");
    assert_eq!(driver.num_queued(), 2);
    assert_eq!(values(&field, &routes[1]), expected[1]);
    assert_eq!(values(&field, &routes[0]), expected[0]);

    // Nothing is updated.
    field.updated.queue_fill(0).expect("a device");
    field.begin_extract(Phase::Broadcast, &routes).expect("packing");
    assert!(routes.iter().all(|route| values(&field, route).is_empty()));
}
