"""A Kafka broker in KRaft mode: one node, topics only as tests create them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.conftest import ROOT
from tests.live.servers.certificate import Certificate, make_certificate
from tests.live.servers.server import Server, free_port, running
from tests.skips import java_major

USERNAME, PASSWORD = "ada", "correct horse"
_CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"
_SCRAM = f'SCRAM-SHA-256=[name="{USERNAME}",password="{PASSWORD}"]'
_HEAP = ("-Xms64m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaServer(Server):
    """A broker that also listens with a password (``sasl``) and with TLS (``tls``)."""

    sasl: str
    tls: str
    certificate: Certificate


@contextmanager
def start(folder: Path) -> Iterator[KafkaServer]:
    """A new broker with the topic of ``examples/shop``, its data under ``folder``."""
    server = prepare(folder)
    with broker(server, folder):
        create_topic(server, "shop")
        yield server


def prepare(folder: Path) -> KafkaServer:
    """Write settings and storage of a broker that :func:`broker` can then run, and run again."""
    ports = [free_port() for _ in range(4)]
    certificate = make_certificate(folder)
    (folder / "server.properties").write_text(_settings(folder, ports, certificate))
    format_storage = ("kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-S", _SCRAM, "-c")
    done = subprocess.run(
        [*_java(folder), *format_storage, str(folder / "server.properties")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return KafkaServer(
        host="127.0.0.1",
        port=ports[0],
        address=f"PLAINTEXT://127.0.0.1:{ports[0]}",
        sasl=f"127.0.0.1:{ports[1]}",
        tls=f"SSL://127.0.0.1:{ports[2]}",
        certificate=certificate,
    )


@contextmanager
def broker(server: KafkaServer, folder: Path) -> Iterator[None]:
    """The broker as long as the block runs; its data stays."""
    command = [*_java(folder), "kafka.Kafka", str(folder / "server.properties")]
    with running(command, server.port, folder / "kafka.log"):
        yield


def create_topic(server: Server, name: str, partitions: int = 1, **config: str) -> str:
    """A new topic; its name."""
    admin = AdminClient({"bootstrap.servers": f"{server.host}:{server.port}"})
    topic = NewTopic(name, num_partitions=partitions, replication_factor=1, config=config)
    admin.create_topics([topic])[name].result(timeout=20)
    return name


def _java(folder: Path) -> list[str]:
    home = Path(os.environ.get("HERALDRY_KAFKA_HOME") or ROOT / "build" / "kafka")
    if not (home / "pom.xml").exists():
        pytest.skip(f"no Kafka in {home}: scripts/install-jars")
    if java_major() < 17:
        pytest.skip("Java 17 or later is not installed: scripts/bootstrap java")
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    logging = f"-Dlog4j2.configurationFile={_log_settings(folder)}"
    return [str(java), *_HEAP, logging, "-cp", f"{home}/lib/*"]


def _log_settings(folder: Path) -> Path:
    """Warnings to the console, which is the log of the process."""
    file = folder / "log4j2.properties"
    file.write_text(
        "status = error\n"
        "appender.console.type = Console\nappender.console.name = console\n"
        "rootLogger.level = warn\nrootLogger.appenderRef.console.ref = console\n"
    )
    return file


def _settings(folder: Path, ports: list[int], certificate: Certificate) -> str:
    plain, sasl, tls, controller = ports
    keys = folder / "keystore.pem"
    keys.write_text(Path(certificate.key).read_text() + Path(certificate.file).read_text())
    security = "org.apache.kafka.common.security"
    by_name = "listener.name.sasl_plaintext"
    return f"""
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},\
SSL://127.0.0.1:{tls},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,\
SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,OAUTHBEARER
{by_name}.plain.sasl.jaas.config={security}.plain.PlainLoginModule required \
user_{USERNAME}="{PASSWORD}";
{by_name}.scram-sha-256.sasl.jaas.config={security}.scram.ScramLoginModule required;
{by_name}.oauthbearer.sasl.jaas.config={security}.oauthbearer.OAuthBearerLoginModule required \
unsecuredLoginStringClaim_sub="{USERNAME}";
listener.name.ssl.ssl.keystore.type=PEM
listener.name.ssl.ssl.keystore.location={keys}
log.dirs={folder / "data"}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
group.coordinator.append.linger.ms=0
"""
