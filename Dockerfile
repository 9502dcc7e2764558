# Parton with Open MPI: runs alone, on the ranks of Slurm, and in the pods of a Kubernetes MPIJob.
# How to use the image: docs/install.md.

FROM rust:1.95-bookworm AS build
WORKDIR /parton
COPY . .
RUN cargo build --locked --profile dist --package parton

FROM debian:bookworm-slim
# Open MPI is found when a launcher starts Parton; without one it is not loaded. The pods of an MPIJob
# start each other's ranks through SSH.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates libopenmpi3 openmpi-bin openssh-client openssh-server \
    && rm -rf /var/lib/apt/lists/*

# A user who needs no rights: the pods' SSH runs as this user, on a port above 1024, with the keys that the
# MPI operator mounts. These belong to root and may be read by a group, which SSH would otherwise refuse.
ARG SSH_PORT=2222
RUN useradd --create-home --uid 1000 mpiuser \
    && printf '%s\n' \
        "Port $SSH_PORT" 'HostKey /home/mpiuser/.ssh/id_rsa' 'PidFile /home/mpiuser/sshd.pid' \
        'StrictModes no' 'UsePAM no' 'PasswordAuthentication no' > /home/mpiuser/.sshd_config \
    && printf '%s\n' \
        'Host *' "  Port $SSH_PORT" '  StrictHostKeyChecking no' '  UserKnownHostsFile /dev/null' \
        '  LogLevel ERROR' > /etc/ssh/ssh_config.d/parton.conf \
    && chown mpiuser:mpiuser /home/mpiuser/.sshd_config

COPY --from=build /parton/target/dist/parton /usr/local/bin/parton
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/parton/
USER mpiuser
WORKDIR /data
ENTRYPOINT ["parton"]
CMD ["--help"]
