"""Facts about deploy/kubernetes: the manifests are valid, closed and complete."""

import re
from pathlib import Path

import yaml
from deploy_files import DEPLOY, PAGES, checked, of_kubernetes, pods, resources, text_of, tool


def test_the_manifests_are_what_kubernetes_takes(tmp_path: Path) -> None:
    file = tmp_path / "resources.yaml"
    file.write_text(yaml.safe_dump_all(of_kubernetes()), encoding="utf-8")
    checked(tool("kubernetes-validate"), "--strict", file)


def test_the_pods_keep_to_the_strictest_standard() -> None:
    assert len(pods()) == 3
    for pod in pods():
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        # The autoscaler beside the head alone asks Kubernetes for anything.
        is_head = pod["containers"][0]["name"] == "ray-head"
        assert pod["automountServiceAccountToken"] is is_head
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"].keys() == {"cpu", "memory"}


def test_a_cluster_on_kubernetes_grows_as_builds_ask() -> None:
    [cluster] = resources(DEPLOY / "kubernetes" / "cluster.yaml")
    assert cluster["spec"]["enableInTreeAutoscaling"] is True
    [workers] = cluster["spec"]["workerGroupSpecs"]
    assert workers["minReplicas"] == workers["replicas"] == 1
    assert workers["maxReplicas"] > 1


def test_no_service_of_the_namespace_is_taken_for_a_setting() -> None:
    # Kubernetes puts NAME_PORT=tcp://... of each Service into every pod that does not refuse it.
    services = [each for each in of_kubernetes() if each["kind"] == "Service"]
    assert [each["metadata"]["name"] for each in services] == ["kingpair"]
    assert [pod for pod in pods() if pod.get("enableServiceLinks") is not False] == []


def test_a_cluster_grows_as_the_page_says() -> None:
    [patch] = re.findall(r"patch raycluster kingpair --type json -p '(.*?)'", text_of(*PAGES))
    local = ("patch", "--local", "--filename", "kubernetes/cluster.yaml", "--output", "yaml")
    patched = checked(tool("kubectl"), *local, "--type", "json", "--patch", patch)
    assert yaml.safe_load(patched)["spec"]["workerGroupSpecs"][0]["minReplicas"] == 4


def test_no_network_is_open_by_default() -> None:
    closed, *_ = resources(DEPLOY / "kubernetes" / "network.yaml")
    assert closed["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_the_parts_make_a_whole() -> None:
    made = list(yaml.safe_load_all(checked(tool("kubectl"), "kustomize", "kubernetes")))
    assert {each["kind"] for each in made} >= {"RayCluster", "Deployment", "NetworkPolicy"}
    assert all(each["metadata"].get("namespace", "kingpair") == "kingpair" for each in made)
    images = set(re.findall(r"image: (\S+)", yaml.safe_dump_all(made)))
    [kustomization] = resources(DEPLOY / "kubernetes" / "kustomization.yaml")
    [image] = kustomization["images"]
    assert images == {f"{image['newName']}:{image['newTag']}"}
