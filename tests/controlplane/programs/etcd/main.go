// Command etcd is the store of an API server: one member on the loopback address, which forgets on power loss.
package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	folder := flag.String("data", "", "where the data lie")
	clients := flag.Int("port", 2379, "the port for clients")
	peers := flag.Int("peer-port", 2380, "the port for peers, of which there are none")
	flag.Parse()
	if err := run(*folder, *clients, *peers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string, clients, peers int) error {
	config := embed.NewConfig()
	config.Name = "only"
	config.Dir = folder
	config.UnsafeNoFsync = true
	config.LogLevel = "warn"
	config.LogOutputs = []string{"stderr"}
	config.ListenClientUrls = loopback(clients)
	config.AdvertiseClientUrls = loopback(clients)
	config.ListenPeerUrls = loopback(peers)
	config.AdvertisePeerUrls = loopback(peers)
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		return fmt.Errorf("etcd is not ready after 30 s")
	}
	fmt.Println("ready")
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-ended:
		return nil
	case err := <-server.Err():
		return err
	}
}

func loopback(port int) []url.URL {
	return []url.URL{{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}}
}
