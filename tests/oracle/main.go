// Oracle answers scenarios with the published allocator of Kubernetes, one JSON document a line.
//
// A scenario has features (those that are on, by the names of structured.Features), classes, slices, node,
// claims and allocatedState. Its answer has an entry for each variant of the allocator: its results, error and
// number of steps, or why it was skipped or panicked. What another run may answer otherwise, because the variant walks a map,
// is marked as such.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const (
	shareID = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
	longest = 256 << 20
)

type device struct {
	Driver  string    `json:"driver"`
	Pool    string    `json:"pool"`
	Device  string    `json:"device"`
	ShareID types.UID `json:"shareID,omitempty"`
}

type consumed struct {
	device
	Capacity map[resourceapi.QualifiedName]resource.Quantity `json:"capacity"`
}

type state struct {
	AllocatedDevices         []device   `json:"allocatedDevices"`
	AllocatedSharedDeviceIDs []device   `json:"allocatedSharedDeviceIDs"`
	AggregatedCapacity       []consumed `json:"aggregatedCapacity"`
}

type scenario struct {
	ID             json.RawMessage              `json:"id"`
	Features       structured.Features          `json:"features"`
	Classes        []*resourceapi.DeviceClass   `json:"classes"`
	Slices         []*resourceapi.ResourceSlice `json:"slices"`
	Node           *corev1.Node                 `json:"node"`
	Claims         []*resourceapi.ResourceClaim `json:"claims"`
	AllocatedState state                        `json:"allocatedState"`
}

type answer struct {
	Skipped              string                         `json:"skipped,omitempty"`
	Results              []resourceapi.AllocationResult `json:"results"`
	Error                string                         `json:"error,omitempty"`
	ErrorOnlyAffectsNode bool                           `json:"errorOnlyAffectsNode,omitempty"`
	Steps                int64                          `json:"numAllocateOneInvocations"`
	TimedOut             bool                           `json:"timedOut,omitempty"`
	Panicked             string                         `json:"panicked,omitempty"`
	Nondeterministic     bool                           `json:"nondeterministic,omitempty"`
}

type classes []*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) { return c, nil }

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, fmt.Errorf("deviceclass.resource.k8s.io %q not found", name)
}

func (d device) id() structured.DeviceID {
	return structured.MakeDeviceID(d.Driver, d.Pool, d.Device)
}

// state is made anew for each run, because an allocator may keep what it is given.
func (s state) make() structured.AllocatedState {
	made := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, each := range s.AllocatedDevices {
		made.AllocatedDevices.Insert(each.id())
	}
	for _, each := range s.AllocatedSharedDeviceIDs {
		made.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(each.id(), &each.ShareID))
	}
	for _, each := range s.AggregatedCapacity {
		made.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(each.id(), each.Capacity))
	}
	return made
}

// steps is how often the search was entered; the type that holds it is internal to the module.
func steps(allocator structured.Allocator) int64 {
	stats := reflect.ValueOf(allocator).MethodByName("GetStats").Call(nil)[0]
	return stats.FieldByName("NumAllocateOneInvocations").Int()
}

func (s scenario) answer(variant string, limit time.Duration) (told answer) {
	defer func() {
		if fault := recover(); fault != nil {
			told = answer{Panicked: fmt.Sprint(fault)}
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	structured.EnableAllocators(variant)
	cache := cel.NewCache(100, cel.Features{
		EnableConsumableCapacity: s.Features.ConsumableCapacity,
		EnableListTypeAttributes: s.Features.ListTypeAttributes,
	})
	allocator, err := structured.NewAllocator(ctx, s.Features, s.AllocatedState.make(), classes(s.Classes), s.Slices, cache)
	if err != nil {
		if strings.Contains(err.Error(), "no allocator available") {
			return answer{Skipped: err.Error()}
		}
		return answer{Error: err.Error()}
	}
	found, err := allocator.Allocate(ctx, s.Node, s.Claims)
	told = answer{Results: found, Steps: steps(allocator), TimedOut: ctx.Err() != nil}
	if err != nil {
		told.Error = err.Error()
		told.ErrorOnlyAffectsNode = errors.Is(err, structured.ErrFailedAllocationOnNode)
	}
	for _, result := range told.Results {
		for place := range result.Devices.Results {
			if result.Devices.Results[place].ShareID != nil {
				hidden := types.UID(shareID)
				result.Devices.Results[place].ShareID = &hidden
			}
		}
	}
	return told
}

func (s scenario) answers(variants []string, repeats int, limit time.Duration) map[string]answer {
	told := map[string]answer{}
	for _, variant := range variants {
		first := s.answer(variant, limit)
		for range repeats - 1 {
			if !same(first, s.answer(variant, limit)) {
				first = answer{Nondeterministic: true}
				break
			}
		}
		told[variant] = first
	}
	return told
}

func same(one, other answer) bool {
	left, _ := json.Marshal(one)
	right, _ := json.Marshal(other)
	return bytes.Equal(left, right)
}

func read(line []byte) (scenario, error) {
	var read scenario
	decoder := json.NewDecoder(bytes.NewReader(line))
	err := decoder.Decode(&read)
	return read, err
}

func main() {
	variants := flag.String("variants", "stable,incubating,experimental", "which variants answer, with commas")
	repeats := flag.Int("repeats", 1, "how often each is asked, to tell what is not always the same")
	limit := flag.Duration("limit", 10*time.Second, "how long one answer may take")
	flag.Parse()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longest)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for number := 1; lines.Scan(); number++ {
		asked, err := read(lines.Bytes())
		if err == nil {
			err = out.Encode(map[string]any{
				"id":      asked.ID,
				"answers": asked.answers(strings.Split(*variants, ","), *repeats, *limit),
			})
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "line %d: %v\n", number, err)
			os.Exit(2)
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
