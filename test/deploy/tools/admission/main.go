// Admission reads objects, YAML, from standard input, and judges each as Kubernetes' API server does, with
// its own code: decoded strictly, filled in with defaults, validated, and Pods of Deployments held against the
// Pod Security level "restricted". Prints a line for each, and ends with 1 at the first that is refused.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podapi "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/pod-security-admission/api"
	podsecurity "k8s.io/pod-security-admission/policy"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	decoder := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder()
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		object, kind, err := decoder.Decode(text, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			fmt.Println("not judged:", err)
			continue
		}
		if err != nil {
			return err
		}
		accessor, err := meta.Accessor(object)
		if err != nil {
			return err
		}
		accessor.SetNamespace("models") // of the request
		if err := judge(object); err != nil {
			return fmt.Errorf("%s %s: %w", kind.Kind, accessor.GetName(), err)
		}
		fmt.Println(kind.Kind, accessor.GetName(), "is taken")
	}
}

func judge(object runtime.Object) error {
	var problems field.ErrorList
	switch one := object.(type) {
	case *apps.Deployment:
		options := podapi.GetValidationOptionsFromPodTemplate(&one.Spec.Template, nil)
		problems = appsvalidation.ValidateDeployment(one, options)
		if err := restrict(one); err != nil {
			return err
		}
	case *autoscaling.HorizontalPodAutoscaler:
		options := autoscalingvalidation.HorizontalPodAutoscalerSpecValidationOptions{MinReplicasLowerBound: 1}
		problems = autoscalingvalidation.ValidateHorizontalPodAutoscaler(one, options)
	case *core.PersistentVolumeClaim:
		options := corevalidation.ValidationOptionsForPersistentVolumeClaim(one, nil)
		problems = corevalidation.ValidatePersistentVolumeClaim(one, options)
	case *core.Service:
		problems = corevalidation.ValidateServiceCreate(one)
	case *networking.NetworkPolicy:
		problems = networkingvalidation.ValidateNetworkPolicy(one, networkingvalidation.NetworkPolicyValidationOptions{})
	case *policy.PodDisruptionBudget:
		problems = policyvalidation.ValidatePodDisruptionBudget(one, policyvalidation.PodDisruptionBudgetValidationOptions{})
	default:
		return fmt.Errorf("no validation for %T: add it to judge", one)
	}
	return problems.ToAggregate()
}

func restrict(deployment *apps.Deployment) error {
	var external appsv1.Deployment
	if err := legacyscheme.Scheme.Convert(deployment, &external, nil); err != nil {
		return err
	}
	evaluator, err := podsecurity.NewEvaluator(podsecurity.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	pod := external.Spec.Template
	results := evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec)
	if result := podsecurity.AggregateCheckResults(results); !result.Allowed {
		return errors.New("violates PodSecurity \"restricted\": " + result.ForbiddenDetail())
	}
	return nil
}
