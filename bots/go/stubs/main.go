// Makes the messages of the protocol, in arenav1, from proto/. It does what protoc does, which need not be installed.
package main

import (
	"bytes"
	"context"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	generator = "bin/protoc-gen-go"
	root      = "arena/v1/referee.proto"
)

func main() {
	log.SetFlags(0)
	if err := generate(); err != nil {
		log.Fatal("stubs: ", err)
	}
}

// generate has Go's own generator write a file for each file of the protocol.
func generate() error {
	request, err := compiled()
	if err != nil {
		return err
	}
	asked, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	command := exec.Command(generator)
	command.Stdin, command.Stderr = bytes.NewReader(asked), os.Stderr
	answered, err := command.Output()
	if err != nil {
		return err
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(answered, response); err != nil {
		return err
	}
	for _, file := range response.File {
		if err := os.MkdirAll(filepath.Dir(file.GetName()), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file.GetName(), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compiled returns what generators are asked: all files that the protocol consists of, each after those it imports.
func compiled() (*pluginpb.CodeGeneratorRequest, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{"proto"}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), root)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{}
	add(request, files[0], map[string]bool{})
	return request, nil
}

func add(request *pluginpb.CodeGeneratorRequest, file protoreflect.FileDescriptor, met map[string]bool) {
	if met[file.Path()] {
		return
	}
	met[file.Path()] = true
	for at := range file.Imports().Len() {
		add(request, file.Imports().Get(at).FileDescriptor, met)
	}
	request.ProtoFile = append(request.ProtoFile, protodesc.ToFileDescriptorProto(file))
	if filepath.Dir(file.Path()) == filepath.Dir(root) {
		request.FileToGenerate = append(request.FileToGenerate, file.Path())
	}
}
