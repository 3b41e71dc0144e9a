#include "c10.h"

#include <cstring>

c10::intrusive_ptr_target::~intrusive_ptr_target() = default;
void c10::intrusive_ptr_target::release_resources() {}
c10::StorageImpl::~StorageImpl() = default;
c10::TensorImpl::TensorImpl()
{
	memset(sizes, 0, sizeof sizes);
	memset(strides, 0, sizeof strides);
}
c10::TensorImpl::~TensorImpl() = default;
at::QTensorImpl::~QTensorImpl() = default;
at::SparseTensorImpl::~SparseTensorImpl() = default;
