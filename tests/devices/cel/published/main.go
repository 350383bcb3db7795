// Answers selectors as Kubernetes does: a line of JSON in, a line of JSON out.
//
// The first line is the list of devices that every selector is asked about.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

type device struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

type question struct {
	Expression string `json:"expression"`
	Stored     bool   `json:"stored"`
	Shared     bool   `json:"consumableCapacity"`
	Lists      bool   `json:"listTypeAttributes"`
}

type evaluation struct {
	Match      bool    `json:"match"`
	Error      string  `json:"error,omitempty"`
	ActualCost *uint64 `json:"actualCost,omitempty"`
}

type answer struct {
	CompileError string       `json:"compileError,omitempty"`
	OutputType   string       `json:"outputType,omitempty"`
	MaxCost      uint64       `json:"maxCost"`
	Evals        []evaluation `json:"evals"`
}

func answered(asked question, devices []device) answer {
	kind := environment.NewExpressions
	if asked.Stored {
		kind = environment.StoredExpressions
	}
	compiler := dracel.GetCompiler(dracel.Features{
		EnableConsumableCapacity: asked.Shared,
		EnableListTypeAttributes: asked.Lists,
	})
	compiled := compiler.CompileCELExpression(asked.Expression, dracel.Options{EnvType: &kind})
	if compiled.Error != nil {
		return answer{CompileError: compiled.Error.Detail}
	}
	found := answer{OutputType: compiled.OutputType.String(), MaxCost: compiled.MaxCost}
	for _, each := range devices {
		match, details, err := compiled.DeviceMatches(context.Background(), dracel.Device(each))
		evaluated := evaluation{Match: match}
		if err != nil {
			evaluated.Error = err.Error()
		}
		if details != nil {
			evaluated.ActualCost = details.ActualCost()
		}
		found.Evals = append(found.Evals, evaluated)
	}
	return found
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<16), 1<<24)
	out := json.NewEncoder(os.Stdout)
	var devices []device
	lines.Scan()
	if err := json.Unmarshal(lines.Bytes(), &devices); err != nil {
		log.Fatal(err)
	}
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(answered(asked, devices)); err != nil {
			log.Fatal(err)
		}
	}
}
